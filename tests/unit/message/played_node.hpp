// A node whose PEs are engines of one process: what one sends waits in a queue until the test delivers it.
#pragma once

#include <sys/uio.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "message/engine.hpp"

namespace played {

using namespace shmemx;
using namespace shmemx::message;

inline constexpr std::size_t kHeapBytes = std::size_t{1} << 20;

struct Packet {
  channel::HandlerId id;
  std::vector<std::byte> bytes;
};

class Job;

class PlayedNode final : public Node {
 public:
  PlayedNode(Job& job, int me, std::size_t heap_bytes)
      : job_(job), me_(me), heap(heap_bytes), buffer(new CopyBuffer()) {}

  bool try_send(int pe, channel::HandlerId id, channel::Bytes header, channel::Bytes body) noexcept override;
  Space describe(const std::byte* at, std::size_t bytes, std::uint64_t& offset) noexcept override {
    offset = static_cast<std::uint64_t>(at - heap.data());
    return maps_others && at >= heap.data() && at < heap.data() + heap.size() && bytes <= heap.size() - offset
               ? Space::heap
               : Space::private_memory;
  }
  std::byte* address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  CopyBuffer* copy_buffer(int owner) noexcept override;
  void wake(int) noexcept override {}
  long read_memory(std::int32_t pid, const iovec* local, std::size_t local_count, const iovec* remote,
                   std::size_t remote_count) noexcept override {
    if (!may_read) return -1;
    if (reads_for_real) return Node::read_memory(pid, local, local_count, remote, remote_count);
    long bytes = 0;  // rubbish names any address: nothing is read there
    for (std::size_t i = 0; i < local_count; ++i) {
      std::memset(local[i].iov_base, 0x5a, local[i].iov_len);
      bytes += static_cast<long>(local[i].iov_len);
    }
    return bytes;
  }
  void reject(int, const char*) noexcept override { ++rejected; }
  void exhausted(const char*, std::size_t, std::size_t) noexcept override { ++exhaustions; }

 private:
  Job& job_;
  int me_;

 public:
  std::vector<std::byte> heap;
  std::unique_ptr<CopyBuffer> buffer;
  bool maps_others = true;
  bool has_buffers = true;
  bool may_read = true;
  bool reads_for_real = true;
  int rejected = 0;
  int exhaustions = 0;
};

class Job {
 public:
  Job(int n_pes, const Settings& like, std::size_t heap_bytes = kHeapBytes)
      : n_pes_(n_pes), wires_(static_cast<std::size_t>(n_pes * n_pes)) {
    for (int pe = 0; pe < n_pes; ++pe) {
      nodes_.push_back(std::make_unique<PlayedNode>(*this, pe, heap_bytes));
      engines_.push_back(std::make_unique<Engine>());
      Settings settings = like;
      settings.me = pe;
      settings.n_pes = n_pes;
      engines_.back()->start(*nodes_.back(), settings);
    }
  }
  ~Job() {
    for (auto& engine : engines_) engine->stop();
  }

  int n_pes() const { return n_pes_; }
  Engine& engine(int pe) { return *engines_[static_cast<std::size_t>(pe)]; }
  PlayedNode& node(int pe) { return *nodes_[static_cast<std::size_t>(pe)]; }
  std::deque<Packet>& wire(int from, int to) { return wires_[static_cast<std::size_t>(from * n_pes_ + to)]; }

  // Hands the next packet over. False: there is none.
  bool deliver(int from, int to) {
    if (wire(from, to).empty()) return false;
    const Packet packet = std::move(wire(from, to).front());
    wire(from, to).pop_front();
    hand_over(engine(to), from, packet.id, packet.bytes);
    return true;
  }

  static void hand_over(Engine& engine, int from, channel::HandlerId id, Payload payload) {
    switch (id) {
      case channel::kMessageEager:
        return engine.on_eager(from, payload);
      case channel::kMessageRts:
        return engine.on_rts(from, payload);
      case channel::kMessageCts:
        return engine.on_cts(from, payload);
      case channel::kMessageCookie:
        return engine.on_cookie(from, payload);
      case channel::kMessageDone:
        return engine.on_done(from, payload);
      default:
        return engine.on_data(from, payload);
    }
  }

  std::size_t cells = 8;  // of each ordered pair

 private:
  int n_pes_;
  std::vector<std::deque<Packet>> wires_;
  std::vector<std::unique_ptr<PlayedNode>> nodes_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

inline bool PlayedNode::try_send(int pe, channel::HandlerId id, channel::Bytes header, channel::Bytes body) noexcept {
  std::deque<Packet>& wire = job_.wire(me_, pe);
  if (wire.size() >= job_.cells) return false;
  Packet packet{id, {header.begin(), header.end()}};
  packet.bytes.insert(packet.bytes.end(), body.begin(), body.end());
  wire.push_back(std::move(packet));
  return true;
}

inline std::byte* PlayedNode::address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (!maps_others || space != Space::heap || offset >= heap.size() || bytes > heap.size() - offset) return nullptr;
  return job_.node(pe).heap.data() + offset;
}

inline CopyBuffer* PlayedNode::copy_buffer(int owner) noexcept {
  return has_buffers ? job_.node(owner).buffer.get() : nullptr;
}

}  // namespace played
