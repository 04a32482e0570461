// RMA in chunks: for long payloads, and for put() and get().
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/ofi/bounce_pool.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/peer.hpp"

namespace shmemx::ofi {

struct Transfer;

struct Chunk : Operation {
  Chunk() noexcept : Operation(Kind::chunk) {}
  Transfer* transfer = nullptr;
  std::byte* local = nullptr;  // of the transfer's local memory
  std::size_t bytes = 0;
  bool is_busy = false;
  Bounce bounce;  // in place of `local`, if that is not registered
};

// What a put or get counts down at its end; null: nothing.
struct Waiter {
  Completion* completion = nullptr;
  Completion* source_use = nullptr;
};

struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

struct Transfer {
  // A few chunks at once keep a stream full. Each completed one is a sign of life.
  static constexpr std::size_t kChunks = 4;

  Peer* peer = nullptr;
  bool is_write = false;
  std::byte* local = nullptr;
  std::optional<Place> place{
      Place{}};  // of the local memory; none: chunks go through buffers, as that is not registered
  RemoteMemory remote;
  std::size_t total = 0;
  std::size_t posted = 0;
  std::size_t done = 0;
  bool is_stalled = false;
  transport::InboundMessage* message = nullptr;  // of a long message; else `waiter` has a completion
  Waiter waiter;
  std::array<Chunk, kChunks> chunks;

  bool is_busy() const noexcept {
    return is_stalled || std::any_of(chunks.begin(), chunks.end(), [](const Chunk& chunk) { return chunk.is_busy; });
  }
  bool is_posted() const noexcept { return posted == total; }
  bool is_complete() const noexcept { return done == total; }
  bool is_given_up() const noexcept { return message == nullptr && waiter.completion == nullptr; }
};

class Transfers {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

  Transfers(Fabric& fabric, Memory& memory, Peers& peers, BouncePool& bounces);

  // Returns a free transfer for the caller to fill in and start.
  Transfer* take();
  bool is_empty() const noexcept { return all_.size() == free_.size(); }
  // Returns true if put() and get() may not start more.
  bool is_full() const noexcept { return all_.size() - free_.size() >= kMost; }
  // Frees a transfer that is complete, or of which nothing has been posted.
  void release(Transfer* transfer);

  // Posts what the provider takes; on_done() and retry() post the rest. If it fails, the peer is lost.
  void start(Transfer& transfer);
  // As start(), but returns false, with nothing posted, if the provider takes nothing now.
  bool try_start(Transfer& transfer);
  // Notes that a chunk is complete and posts the next one. Returns its transfer.
  Transfer& on_done(Chunk& chunk);
  // The provider has given the chunk up, and the peer is lost.
  void on_failed(Chunk& chunk) noexcept;
  // Ends a put() or get() of which the provider has nothing any more.
  void end_if_over(Transfer& transfer) noexcept;
  // The peer is abandoned: ends those of its put() and get() that are over. Returns whether others are left.
  bool end_all(const Peer& peer) noexcept;
  // Nobody knows how the others end.
  void give_up(const Peer& peer) noexcept;
  // Posts what the provider did not take. Returns true if something has been posted.
  bool retry();

 private:
  static constexpr std::size_t kMost = 1024;

  bool pump(Transfer& transfer);
  std::int64_t post(Transfer& transfer, Chunk& chunk);
  std::int64_t hand_over(const Transfer& transfer, Chunk& chunk);
  void end_bounce(const Transfer& transfer, Chunk& chunk, bool has_failed);

  Fabric& fabric_;
  Memory& memory_;
  Peers& peers_;
  BouncePool& bounces_;
  std::size_t chunk_bytes_;
  std::vector<std::unique_ptr<Transfer>> all_;
  std::vector<Transfer*> free_;
  std::vector<Transfer*> stalled_;
};

}  // namespace shmemx::ofi
