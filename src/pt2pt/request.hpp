// Sends and receives that are open, and the pool they come from. A request is named by index and generation, so any
// number can be looked up without a wild access: users hold such a number, and so do peers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pt2pt/matching.hpp"
#include "pt2pt/wire.hpp"
#include "rma/shape.hpp"
#include "transport/transport.hpp"

namespace shmemx::pt2pt {

struct Result {
  std::int32_t source;
  std::int32_t tag;
  std::size_t bytes;
  bool truncated;
  bool cancelled;
};

struct CopyBuffer;

enum class Role : std::uint8_t { none, send, receive };

// Where a request stands. Changed under the engine's lock.
enum class Phase : std::uint8_t {
  idle,
  posted,   // a receive in the posted queue
  bypass,   // the receive that looks at what arrives before the posted queue does
  queued,   // has something to send: `next`
  waiting,  // for the peer
  moving,   // moves bytes in each poll
  complete
};

// What a queued request sends next.
enum class Next : std::uint8_t { eager, rts, cts, data, ask, section, done };

struct Request {
  // What a short message touches.
  std::atomic<bool> done;  // edge complete: result and memory, before the waiter goes on
  Role role;
  Phase phase;
  Next next;
  bool synchronous;
  bool described_by_peer;  // this side moves the bytes
  std::int32_t peer;       // asked for; once matched, the one it is
  std::int32_t tag;
  RequestId id;
  Cursor cursor;
  Result result;
  QueueNode node;
  // What a long one needs beside.
  Request* link;  // in the list or free list it is in
  LmtKind kind;
  std::uint32_t chunk;  // copy: the next chunk; network: most bytes of a message, 0: any
  RequestId peer_id;
  std::int32_t pid;       // cma: the sender's
  Space space;            // where this side describes its memory: all of it lies there
  std::size_t goal;       // bytes that move
  std::size_t placement;  // network, receiver: of those behind the cursor, bytes that are still on their way
  CopyBuffer* buffer;
  std::unique_ptr<Place[]> own_list;
  Section section;  // the peer's memory
  Cursor there;     // over the places of the section
  // network, sender: of the message that was sent last
  transport::Outgoing outgoing;
  std::unique_ptr<std::byte[]> packed;
};

class RequestPool {
 public:
  // Null when memory or names are used up. Under the engine's lock.
  Request* take() noexcept {
    if (free_ == nullptr && !grow()) [[unlikely]]
      return nullptr;
    Request* const request = free_;
    free_ = request->link;
    ++live_;
    return request;
  }
  // From now on its id names nothing.
  void give_back(Request& request) noexcept {
    request.role = Role::none;
    request.phase = Phase::idle;
    if (++request.id.generation == 0) request.id.generation = 1;
    if (request.own_list != nullptr) request.own_list.reset();
    request.link = free_;
    free_ = &request;
    --live_;
  }
  // Null when there is no such request.
  Request* find(RequestId id) noexcept {
    if (id.index >= count_ || id.generation == 0) return nullptr;
    Request& request = chunks_[id.index / kChunk][id.index % kChunk];
    return request.role != Role::none && request.id == id ? &request : nullptr;
  }
  std::size_t live() const noexcept { return live_; }
  // All that are open name nothing any more.
  void drop_all() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      Request& request = chunks_[i / kChunk][i % kChunk];
      if (request.role != Role::none) give_back(request);
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 256;
  static constexpr std::uint32_t kMaxChunks = 1U << 16;
  bool grow() noexcept;

  Request* free_ = nullptr;
  std::uint32_t count_ = 0;
  std::size_t live_ = 0;
  std::unique_ptr<std::unique_ptr<Request[]>[]> chunks_;
};

}  // namespace shmemx::pt2pt
