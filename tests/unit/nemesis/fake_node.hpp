// A node whose PEs are channels in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "nemesis/shm_channel.hpp"
#include "node_memory.hpp"

namespace queue_test {

using namespace shmemx::nemesis;
using shmemx::Bytes;
using shmemx::Doorbells;
using shmemx::kPageBytes;
using shmemx::NodePes;

inline constexpr std::uint8_t kNumbered = 7;
inline constexpr std::size_t kMaxBytes = 400;

// A PE: its channel, its private memory, and what it has received.
struct FakePe {
  FakePe(const NodeMemory& memory, int me) : FakePe(memory, me, memory.layout.n_pes, NodePes()) {}
  FakePe(const NodeMemory& memory, int me, std::size_t n_pes, NodePes pes) {
    peers.resize(n_pes);
    cells_in_use.resize(n_pes);
    last.resize(n_pes);
    last_sent.resize(n_pes);
    std::byte* const first = memory.memory.get() + kPageBytes + offsetof(Control, doorbell);
    const Doorbells doorbells{first, static_cast<std::ptrdiff_t>(memory.layout.part_bytes), pes};
    channel.open({memory.parts, me, doorbells, peers, &box_sources, cells_in_use, &box_cells, &unflushed});
  }

  // Messages are numbered for each pair; the number stands in front, and each further byte repeats it.
  bool send(int pe, std::size_t bytes, CellUse use = CellUse::request) {
    const std::uint64_t number = last_sent[static_cast<std::size_t>(pe)] + 1;
    const std::vector<std::byte> payload(bytes, static_cast<std::byte>(number));
    const Bytes header{reinterpret_cast<const std::byte*>(&number), sizeof number};
    if (!channel.try_send_in_box(pe, kNumbered, header, payload) &&
        !channel.try_send_in_shared_cell(pe, kNumbered, header, payload) &&
        !(behind_box && channel.try_send_behind_box(pe, kNumbered, header, payload)) &&
        !channel.try_send_in_cell(pe, kNumbered, header, payload, use))
      return false;
    last_sent[static_cast<std::size_t>(pe)] = number;
    return true;
  }
  bool receive(const ShmMessage& message) {
    std::uint64_t number = 0;
    std::uint64_t& expected = last[static_cast<std::size_t>(message.source)];
    if (message.payload.size() >= sizeof number) std::memcpy(&number, message.payload.data(), sizeof number);
    bad += number == ++expected && message.handler == kNumbered ? 0 : 1;
    for (const std::byte byte : message.payload.subspan(sizeof number)) bad += byte != static_cast<std::byte>(number);
    ++received;
    (message.cell == nullptr ? by_box : by_cell) += 1;
    if (!keeps_cells || message.cell == nullptr) return true;
    kept.push_back(message.cell);
    return false;
  }
  // A look at a line may come too early after a message that this PE has written there.
  void let_time_pass() {
    for (ShmPeer& peer : peers) peer.in_line.written = 0;
  }
  bool poll() {
    let_time_pass();
    const auto deliver = [this](const ShmMessage& message) { return receive(message); };
    const bool any = channel.poll_queue(deliver);
    return channel.poll_boxes(deliver) || any;
  }
  bool poll_box(int source) {
    let_time_pass();
    return channel.poll_box(source, [this](const ShmMessage& message) { return receive(message); });
  }

  std::vector<ShmPeer> peers;
  std::vector<std::int32_t> box_sources;
  std::vector<std::uint32_t> cells_in_use;
  BoxCells box_cells;
  bool behind_box = false;
  UnflushedPes unflushed;
  ShmChannel channel;
  std::vector<std::uint64_t> last, last_sent;  // by PE
  std::uint64_t received = 0, bad = 0, by_box = 0, by_cell = 0;
  bool keeps_cells = false;
  std::deque<Cell*> kept;
};

struct Node {
  explicit Node(std::size_t n_pes, std::size_t cell_count = 16) : memory(n_pes, 512, cell_count) {
    for (std::size_t pe = 0; pe < n_pes; ++pe) pes.push_back(std::make_unique<FakePe>(memory, static_cast<int>(pe)));
  }
  FakePe& operator[](std::size_t pe) { return *pes[pe]; }

  NodeMemory memory;
  std::vector<std::unique_ptr<FakePe>> pes;
};

}  // namespace queue_test
