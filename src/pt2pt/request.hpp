// Sends, receives and other operations under way, and the pools they come from. A request is named by an index and a
// generation, so any number can be looked up without a wild access. Users and peers hold such numbers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/doorbell.hpp"
#include "pt2pt/keyed_queues.hpp"
#include "pt2pt/wire.hpp"
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

enum class Role : std::uint8_t { none, send, receive, operation };

// The state of a request. Changed under the endpoint's lock.
enum class Phase : std::uint8_t {
  idle,
  posted,   // a receive in the posted queue
  bypass,   // the receive that is matched before the posted queue
  queued,   // has something to send: `next`
  waiting,  // for the peer
  moving,   // an LMT moves bytes in each poll
  complete
};

// What a queued request sends next.
enum class Next : std::uint8_t { eager, rts, cts, data, request_section, section, done };

// The part of a request that a rendezvous uses, on either side.
struct Transfer {
  LmtKind kind;
  bool described_by_peer;    // this side moves the bytes, and says when all are there
  std::uint32_t cts_detail;  // CtsHeader::detail
  std::size_t offered;       // CtsHeader::offered
  RequestId peer_id;
  Space space;          // of all memory that this side describes
  Section section;      // the peer's memory
  Cursor there;         // over the places of the section
  CopyBuffer* buffer;   // the receiver's, in a transfer that uses it: both sides move
  std::uint32_t chunk;  // copy: number of the next chunk; shared copies: of the transfer
  pid_t pid;            // cma: the other process
};

struct Request {
  // A short message touches only these.
  std::atomic<bool> done;  // edge complete: result and memory, before the waiter goes on
  Role role;
  Phase phase;
  Next next;
  std::int32_t peer;  // of a receive: the source it names; after the match, the sender
  std::int32_t tag;
  RequestId id;
  bool in_burst;  // a send: Leave::burst
  Cursor cursor;
  Result result;
  std::size_t goal;  // bytes that move
  // Others need these, too.
  Request* link;  // in the list or free list it is in
  std::unique_ptr<Place[]> own_list;
  Transfer transfer;

  // For a request that has been taken from its pool; no other thread knows it yet.
  [[gnu::always_inline]] void begin(const Cursor& places, int of_peer, int of_tag) noexcept {
    done.store(false, std::memory_order_relaxed);
    peer = of_peer;
    tag = of_tag;
    cursor = places;
    result = {};
    transfer.kind = LmtKind::queue;
    transfer.described_by_peer = false;
    transfer.cts_detail = 0;
    transfer.offered = 0;
  }
};

struct SendRequest : Request {
  static constexpr Role kRole = Role::send;
  transport::Outgoing outgoing;         // network: of the message that was sent last
  transport::Outgoing offered;          // network: of the bytes that have left with the offer
  std::unique_ptr<std::byte[]> packed;  // network: a message whose places are scattered
};

struct ReceiveRequest : Request {
  static constexpr Role kRole = Role::receive;
  QueueEntry entry;              // in the posted queue
  std::uint64_t chosen_ns;       // when its LMT was chosen by time; 0: it was not
  std::size_t placing_bytes;     // network: bytes before the cursor that the network is still writing
  ReceiveRequest* next_offered;  // network: in the list of those to which the first data of offers are written
};

// What a higher layer does in the background, such as a collective. Programs complete it like a message.
struct Operation : Request {
  static constexpr Role kRole = Role::operation;
  std::uint32_t group;
};

// Marks the request as complete and wakes threads of this PE that wait for it.
inline void complete(Request& request) noexcept {
  request.phase = Phase::complete;
  request.done.store(true, std::memory_order_release);  // complete
  wake_own_sleepers();
}

// An index tells the pools apart: its remainder is the role.
inline constexpr std::uint32_t kRoles = 4;
constexpr Role role_of(RequestId id) noexcept { return static_cast<Role>(id.index % kRoles); }

// Requests of one role. All functions are called under the endpoint's lock.
template <class T>
class RequestPool {
 public:
  // Returns null if memory or names are used up.
  T* take() noexcept {
    if (free_ == nullptr && !grow()) [[unlikely]]
      return nullptr;
    Request* const request = free_;
    free_ = request->link;
    request->role = T::kRole;
    ++live_;
    return static_cast<T*>(request);
  }
  // The id of the request names nothing from now on.
  void give_back(T& request) noexcept {
    request.role = Role::none;
    request.phase = Phase::idle;
    if (++request.id.generation == 0) request.id.generation = 1;
    if (request.own_list != nullptr) request.own_list.reset();
    request.link = free_;
    free_ = &request;
    --live_;
  }
  // Returns null if `id` names no live request of this pool.
  T* find(RequestId id) noexcept {
    const std::uint32_t slot = id.index / kRoles;
    if (role_of(id) != T::kRole || slot >= count_ || id.generation == 0) return nullptr;
    T& request = chunks_[slot / kChunk][slot % kChunk];
    return request.role != Role::none && request.id == id ? &request : nullptr;
  }
  std::size_t live() const noexcept { return live_; }
  // Calls use(request) for the live ones.
  template <class Use>
  void for_each(const Use& use) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const T& request = chunks_[i / kChunk][i % kChunk];
      if (request.role != Role::none) use(request);
    }
  }
  void drop_all() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      T& request = chunks_[i / kChunk][i % kChunk];
      if (request.role != Role::none) give_back(request);
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 256;
  static constexpr std::uint32_t kMaxChunks = 1U << 16;

  [[gnu::noinline, gnu::cold]] bool grow() noexcept {
    if (count_ == kChunk * kMaxChunks) return false;
    if (chunks_ == nullptr) chunks_.reset(new (std::nothrow) std::unique_ptr<T[]>[kMaxChunks]);
    std::unique_ptr<T[]> chunk(new (std::nothrow) T[kChunk]());
    if (chunks_ == nullptr || chunk == nullptr) return false;
    for (std::uint32_t i = kChunk; i-- > 0;) {
      chunk[i].id = {(count_ + i) * kRoles + static_cast<std::uint32_t>(T::kRole), 1};
      chunk[i].link = free_;
      free_ = &chunk[i];
    }
    chunks_[count_ / kChunk] = std::move(chunk);
    count_ += kChunk;
    return true;
  }

  Request* free_ = nullptr;
  std::uint32_t count_ = 0;
  std::size_t live_ = 0;
  std::unique_ptr<std::unique_ptr<T[]>[]> chunks_;
};

struct Requests {
  RequestPool<SendRequest> sends;
  RequestPool<ReceiveRequest> receives;
  RequestPool<Operation> operations;

  Request* find(RequestId id) noexcept {
    switch (role_of(id)) {
      case Role::send:
        return sends.find(id);
      case Role::receive:
        return receives.find(id);
      case Role::operation:
        return operations.find(id);
      case Role::none:
        break;
    }
    return nullptr;
  }
  void give_back(Request& request) noexcept {
    if (request.role == Role::send) return sends.give_back(static_cast<SendRequest&>(request));
    if (request.role == Role::receive) return receives.give_back(static_cast<ReceiveRequest&>(request));
    operations.give_back(static_cast<Operation&>(request));
  }
  std::size_t live() const noexcept { return sends.live() + receives.live() + operations.live(); }
  void drop_all() noexcept {
    sends.drop_all();
    receives.drop_all();
    operations.drop_all();
  }
};

}  // namespace shmemx::pt2pt
