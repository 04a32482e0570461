// Jobs whose PEs are engines of one process. Messages are queued until the test delivers them. A long payload to
// another node stays in the sender's memory until it is delivered.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "pt2pt/engine.hpp"

namespace simulated {

using namespace shmemx;
using namespace shmemx::pt2pt;

inline constexpr std::size_t kHeapBytes = std::size_t{1} << 20;

struct Message {
  am::HandlerId id;
  std::vector<std::byte> bytes;
  am::Bytes payload;                        // the rest of the message, if it is still in the sender's memory
  transport::Outgoing* outgoing = nullptr;  // set with `payload`: done after that has been read
};

inline Settings plain_settings(LmtChoice choice) {
  Settings settings;
  settings.payload_bytes = 8160;
  settings.unexpected_max = 1U << 20;
  settings.lmt = choice;
  return settings;
}

class Job;

class SimulatedPlatform final : public Platform {
 public:
  SimulatedPlatform(Job& job, int me, std::size_t heap_bytes)
      : job_(job), me_(me), heap(heap_bytes), buffer(new CopyBuffer()) {}

  bool is_internode(int pe) noexcept override;
  bool try_send(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                am::SendOptions options) noexcept override;
  transport::Sent send_long(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                            transport::Outgoing& outgoing) noexcept override;
  std::size_t declinable_bytes(int) noexcept override { return declinable; }
  Space describe(int pe, const std::byte* at, std::size_t bytes, std::uint64_t& offset) noexcept override {
    offset = static_cast<std::uint64_t>(at - heap.data());
    return maps_others && !is_internode(pe) && at >= heap.data() && at < heap.data() + heap.size() &&
                   bytes <= heap.size() - offset
               ? Space::heap
               : Space::private_memory;
  }
  std::byte* address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  CopyBuffer* copy_buffer(int owner) noexcept override;
  void wake(int) noexcept override {}
  long read_memory(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept override {
    ++memory_reads;
    if (!may_read) return -1;
    if (reads_for_real) return Platform::read_memory(pid, local, remote, most);
    // Malformed messages contain arbitrary addresses, so no memory is read.
    const std::vector<std::byte> blank(std::min({most, local.left(), remote.left()}), std::byte{0x5a});
    local.scatter(blank.data(), blank.size());
    remote.advance(blank.size());
    return static_cast<long>(blank.size());
  }
  long write_memory(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept override {
    ++memory_writes;
    if (!may_read || !may_write) return -1;
    if (reads_for_real) return Platform::write_memory(pid, local, remote, most);
    const std::size_t bytes = std::min({most, local.left(), remote.left()});
    local.advance(bytes);
    remote.advance(bytes);
    return static_cast<long>(bytes);
  }
  void reject(int, const char*) noexcept override { ++rejected; }
  void exhausted(const char*, std::size_t, std::size_t) noexcept override { ++exhaustions; }

 private:
  Job& job_;
  int me_;

 public:
  std::vector<std::byte> heap;
  std::unique_ptr<CopyBuffer> buffer;
  std::size_t declinable = 0;
  bool maps_others = true;
  bool has_buffers = true;
  bool may_read = true;
  bool may_write = true;
  bool reads_for_real = true;
  int rejected = 0;
  int exhaustions = 0;
  int memory_reads = 0;
  int memory_writes = 0;
};

class Job {
 public:
  // `node_pes`: number of consecutive PEs on one node; 0: all.
  Job(int n_pes, const Settings& like, std::size_t heap_bytes = kHeapBytes, int node_pes = 0)
      : n_pes_(n_pes), node_pes_(node_pes), wires_(static_cast<std::size_t>(n_pes * n_pes)) {
    for (int pe = 0; pe < n_pes; ++pe) {
      platforms_.push_back(std::make_unique<SimulatedPlatform>(*this, pe, heap_bytes));
      engines_.push_back(std::make_unique<Engine>());
      Settings settings = like;
      settings.me = pe;
      settings.n_pes = n_pes;
      settings.several_nodes = node_pes != 0;
      engines_.back()->start(*platforms_.back(), settings);
    }
  }
  ~Job() {
    for (auto& engine : engines_) engine->stop();
  }

  int n_pes() const { return n_pes_; }
  Engine& engine(int pe) { return *engines_[static_cast<std::size_t>(pe)]; }
  SimulatedPlatform& platform(int pe) { return *platforms_[static_cast<std::size_t>(pe)]; }
  bool are_internode(int a, int b) const { return node_pes_ != 0 && a / node_pes_ != b / node_pes_; }
  std::deque<Message>& wire(int from, int to) { return wires_[static_cast<std::size_t>(from * n_pes_ + to)]; }

  // Delivers the next message. Returns false if there is none.
  bool deliver(int from, int to) {
    if (wire(from, to).empty()) return false;
    Message message = std::move(wire(from, to).front());
    wire(from, to).pop_front();
    if (message.outgoing != nullptr) return deliver_long(from, to, message);
    hand_over(engine(to), from, message.id, message.bytes);
    return true;
  }

  // Goes on until nothing moves any more.
  void run() {
    for (bool any = true; any;) {
      any = false;
      for (int from = 0; from < n_pes_; ++from) {
        any |= engine(from).progress();
        for (int to = 0; to < n_pes_; ++to) any |= deliver(from, to);
      }
    }
  }

  static void hand_over(Engine& engine, int from, am::HandlerId id, Payload payload) {
    switch (id) {
      case am::kMessageEager:
        return engine.on_eager(from, payload);
      case am::kMessageRts:
        return engine.on_rts(from, payload);
      case am::kMessageCts:
        return engine.on_cts(from, payload);
      case am::kMessageCookie:
        return engine.on_cookie(from, payload);
      case am::kMessageDone:
        return engine.on_done(from, payload);
      default:
        return engine.on_data(from, payload);
    }
  }

  std::size_t cells = 8;  // of each ordered pair
  std::size_t placed = 0;

 private:
  bool deliver_long(int from, int to, Message& message) {
    const bool is_offer = message.id == am::kMessageRts;
    const std::size_t bytes = message.payload.size();
    std::byte* const place = is_offer ? engine(to).offer_placement(from, message.bytes, bytes)
                                      : engine(to).placement(from, message.bytes, bytes);
    if (place == transport::declined()) {
      message.outgoing->done = true;
      hand_over(engine(to), from, message.id, message.bytes);
      return true;
    }
    if (place != nullptr) {
      ++placed;
      std::memcpy(place, message.payload.data(), bytes);
      message.outgoing->done = true;
      if (is_offer) {
        engine(to).offer_placed(from, bytes);
      } else {
        engine(to).placed(from, message.bytes, bytes);
      }
      return true;
    }
    message.bytes.insert(message.bytes.end(), message.payload.begin(), message.payload.end());
    message.outgoing->done = true;
    hand_over(engine(to), from, message.id, message.bytes);
    return true;
  }

  int n_pes_;
  int node_pes_;
  std::vector<std::deque<Message>> wires_;
  std::vector<std::unique_ptr<SimulatedPlatform>> platforms_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

inline bool SimulatedPlatform::is_internode(int pe) noexcept { return job_.are_internode(me_, pe); }

inline transport::Sent SimulatedPlatform::send_long(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                                                    transport::Outgoing& outgoing) noexcept {
  if (payload.size() < transport::kLongBytes)
    return try_send(pe, id, header, payload, {}) ? transport::Sent::yes : transport::Sent::no;
  std::deque<Message>& wire = job_.wire(me_, pe);
  if (wire.size() >= job_.cells) return transport::Sent::no;
  wire.push_back({id, {header.begin(), header.end()}, payload, &outgoing});
  return transport::Sent::later;
}

inline bool SimulatedPlatform::try_send(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                                        am::SendOptions) noexcept {
  std::deque<Message>& wire = job_.wire(me_, pe);
  if (wire.size() >= job_.cells) return false;
  Message message{id, {header.begin(), header.end()}, {}, nullptr};
  message.bytes.insert(message.bytes.end(), payload.begin(), payload.end());
  wire.push_back(std::move(message));
  return true;
}

inline std::byte* SimulatedPlatform::address_of(int pe, Space space, std::uint64_t offset,
                                                std::uint64_t bytes) noexcept {
  if (!maps_others || is_internode(pe) || space != Space::heap || offset >= heap.size() || bytes > heap.size() - offset)
    return nullptr;
  return job_.platform(pe).heap.data() + offset;
}

inline CopyBuffer* SimulatedPlatform::copy_buffer(int owner) noexcept {
  return has_buffers && !is_internode(owner) ? job_.platform(owner).buffer.get() : nullptr;
}

}  // namespace simulated
