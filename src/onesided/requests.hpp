// Requests to other PEs that have no final reply yet: gets, fetching atomics, and all operations on public windows that
// travel as messages. One table of fixed size; a reply names its entry by a ticket, whose generation tells it from
// earlier requests in the same entry.
//
// Everything but the trackers is used under the endpoint's lock. Trackers are changed under it and read without.
//
// Edges:  reply   open.store, counter.fetch_sub in close() -> open.load, counter.load of a waiter
//                 what the reply has brought: data and errors
//         owner   owner.store(0) in close() -> owner.load in any_open()  the same, for one context and PE
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/endpoint.hpp"
#include "context/context.hpp"
#include "onesided/wire.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {

using Ticket = std::uint32_t;
using Code = int;  // a result of the public header; 0 is success
using OpenCount = std::atomic<std::uint32_t>;
static_assert(OpenCount::is_always_lock_free);

// A power of two: the low bits of a ticket. Several batches of requests (am::Gathering) are under way at once.
inline constexpr std::size_t kMaxRequests = 4096;

// Where the data of a reply go: blocks, one behind the other in the reply.
struct Placement {
  std::byte* at;
  std::uint64_t step;
  std::uint32_t block_bytes;
  std::uint32_t block_count;

  std::uint64_t bytes() const noexcept { return std::uint64_t{block_bytes} * block_count; }
};
inline constexpr Placement kNoData{nullptr, 0, 0, 0};
inline Placement contiguous(void* at, std::size_t bytes) noexcept {
  const auto block_bytes = static_cast<std::uint32_t>(bytes);
  return {static_cast<std::byte*>(at), block_bytes, block_bytes, 1};
}

// Counts the open requests that a caller, a context, a window or a PE waits for together, and holds their first error:
// what was wrong, and where in the window.
struct Tracker {
  OpenCount open{0};
  std::atomic<Code> error{0};
  std::atomic<std::uint64_t> refused_offset{0};
  std::atomic<std::uint64_t> refused_bytes{0};
  std::atomic<std::uint64_t> removed_ms{0};  // of RefusedRange; known where there is an error
};

// Who started a request.
struct Initiator {
  Tracker* tracker;           // of a caller that waits, of a context or of a window
  std::uint32_t context = 0;  // index in the table of contexts; 0: not a context's
  bool may_fail = false;      // on a public window: the tracker gets the error; else a refused request ends the job
  Tracker* also = nullptr;    // counts the request, too, and gets its error: of a PE, or of a context's puts
  long* counter = nullptr;    // of the program: positive while the request is open
  Tracker* local = nullptr;   // counts the request, too, as the initiator's memory is in use until the reply
  bool is_lock = false;       // another PE decides when the reply comes
};

struct Request {
  Placement placement;
  Initiator initiator;  // tracker null: the entry is free
  std::int32_t pe;      // the target
  std::uint32_t generation;
  bool is_placed = false;  // the data of the reply are being received at their place
};

class Requests {
 public:
  // Some entries are left to callers that wait for their reply: threads that start requests all the time would have all
  // others.
  bool has_room(const Initiator& initiator) const noexcept {
    return kMaxRequests - in_use() > (initiator.context != 0 ? kForWaiters : 0);
  }
  // Returns the ticket that open() gives next. Requires a free entry.
  [[gnu::always_inline]] Ticket next_ticket() const noexcept {
    const std::uint32_t index = next_index();
    return ticket_of(index, next_generation(entries_[index]));
  }
  // Opens a request. Requires a free entry.
  Ticket open(const Placement& placement, int pe, const Initiator& initiator) noexcept;
  // Is open() in line.
  [[gnu::always_inline]] Ticket open_in_line(const Placement& placement, int pe, const Initiator& initiator) noexcept;
  // Returns the open request that `ticket` names, null if PE `pe` has no such request.
  [[gnu::always_inline]] Request* find(Ticket ticket, int pe) noexcept {
    Request& entry = entries_[ticket & kIndexMask];
    const bool is_it =
        entry.initiator.tracker != nullptr && entry.generation == ticket / kMaxRequests && entry.pe == pe;
    return is_it ? &entry : nullptr;
  }
  // Notes the first error of a request that may fail.
  static void note_error(const Request& request, Code code, const RefusedRange& refused = {}) noexcept;
  // After the final reply, or if the request could not be sent.
  void close(Ticket ticket) noexcept;
  // Is close() in line.
  [[gnu::always_inline]] void close_in_line(Ticket ticket) noexcept;
  // Any thread: returns whether the context waits for a reply of PE `pe`.
  bool any_open(std::uint32_t context, int pe) const noexcept;
  // Returns whether a PE for which is_gone(pe) does not hold has to answer a request, other than one for a lock.
  bool any_unanswered(bool (*is_gone)(int pe)) const noexcept;
  // Any thread: returns how many requests contexts wait for.
  std::uint32_t open_of_contexts() const noexcept { return nbi_.load(std::memory_order_acquire); }  // reply

 private:
  static std::uint64_t owner_of(std::uint32_t context, int pe) noexcept {
    return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(pe);
  }

  static constexpr std::uint32_t kForWaiters = 16;
  static constexpr std::uint32_t kIndexMask = kMaxRequests - 1;
  static constexpr std::uint32_t kGenerations = (~std::uint32_t{0} / kMaxRequests) + 1;

  static std::uint32_t next_generation(const Request& entry) noexcept { return (entry.generation + 1) % kGenerations; }
  static Ticket ticket_of(std::uint32_t index, std::uint32_t generation) noexcept {
    return static_cast<Ticket>(generation * kMaxRequests + index);
  }
  std::uint32_t next_index() const noexcept { return freed_ != 0 ? free_[freed_ - 1] : fresh(); }

  std::uint32_t fresh() const noexcept { return fresh_.load(std::memory_order_relaxed); }  // grows only
  std::uint32_t in_use() const noexcept { return fresh() - freed_; }

  Request entries_[kMaxRequests] = {};
  std::atomic<std::uint64_t> owners_[kMaxRequests] = {};  // context and PE; 0: closed, or not a context's
  std::uint16_t free_[kMaxRequests] = {};                 // a stack of entries used before
  std::uint32_t freed_ = 0;
  OpenCount fresh_{0};  // entries from here on were never used
  OpenCount nbi_{0};
};
inline constinit Requests requests;

// Changed under the endpoint's lock only.
[[gnu::always_inline]] inline void add(OpenCount& count, std::uint32_t change) noexcept {
  count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_release);  // reply
}

// Adds to a counter of the program.
inline void add_to(long* counter, long value) noexcept {
  if (counter != nullptr) __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);  // reply
}

inline Ticket Requests::open_in_line(const Placement& placement, int pe, const Initiator& initiator) noexcept {
  const std::uint32_t index = next_index();
  if (freed_ != 0) {
    --freed_;
  } else {
    fresh_.store(index + 1, std::memory_order_relaxed);  // the same thread reads it
  }
  Request& entry = entries_[index];
  const std::uint32_t generation = next_generation(entry);
  // Each member by itself: the compiler would copy a whole entry from the stack, byte by byte.
  entry.placement = placement;
  entry.initiator.tracker = initiator.tracker;
  entry.initiator.context = initiator.context;
  entry.initiator.may_fail = initiator.may_fail;
  entry.initiator.also = initiator.also;
  entry.initiator.counter = initiator.counter;
  entry.initiator.local = initiator.local;
  entry.initiator.is_lock = initiator.is_lock;
  entry.pe = pe;
  entry.generation = generation;
  entry.is_placed = false;
  if (initiator.context != 0) {
    owners_[index].store(owner_of(initiator.context, pe), std::memory_order_relaxed);  // the same thread reads it
    add(nbi_, 1);
  }
  if (initiator.also != nullptr) add(initiator.also->open, 1);
  if (initiator.local != nullptr) [[unlikely]]
    add(initiator.local->open, 1);
  add_to(initiator.counter, 1);
  add(initiator.tracker->open, 1);
  return ticket_of(index, generation);
}

inline void Requests::close_in_line(Ticket ticket) noexcept {
  constexpr std::uint32_t kMinusOne = ~std::uint32_t{0};
  const std::uint32_t index = ticket & kIndexMask;
  Initiator& initiator = entries_[index].initiator;  // nobody opens the entry before the lock is released
  Tracker* const tracker = initiator.tracker;
  Tracker* const also = initiator.also;
  initiator.tracker = nullptr;
  free_[freed_++] = static_cast<std::uint16_t>(index);
  if (owners_[index].load(std::memory_order_relaxed) != 0) {  // written under the lock
    owners_[index].store(0, std::memory_order_release);       // owner
    add(nbi_, kMinusOne);
  }
  // The trackers last: once they count nothing, the program may reuse its counter and a waiter may return, which ends
  // the tracker of a caller. A request of a caller has one tracker.
  if (initiator.counter != nullptr) [[unlikely]]
    add_to(initiator.counter, -1);
  if (initiator.local != nullptr) [[unlikely]]
    add(initiator.local->open, kMinusOne);
  add(tracker->open, kMinusOne);
  if (also != nullptr) add(also->open, kMinusOne);
}

// What the quiet of a context waits for.
inline constinit Tracker open_table[context::kMaxContexts] = {};

// What its fence waits for: puts that a network does by itself.
inline constinit Tracker put_table[context::kMaxContexts] = {};
// Of the default context where `context` is none of the table, such as the route of a team.
inline std::uint32_t index_of(const context::Context& context) noexcept {
  const auto distance =
      reinterpret_cast<std::uintptr_t>(&context) - reinterpret_cast<std::uintptr_t>(context::context_table);
  const std::uintptr_t index = distance / sizeof(context::Context);
  return static_cast<std::uint32_t>(index < context::kMaxContexts ? index : context::kDefaultContext);
}
inline Initiator initiator_of(const context::Context& context) noexcept {
  const std::uint32_t index = index_of(context);
  return {&open_table[index], index};
}

// A message that opens a request: its target, and where the data of the reply go.
struct RequestMessage {
  std::int32_t pe;
  am::HandlerId handler;
  Placement placement;
  am::Leave leave = am::Leave::now;
};

// When a request that nobody waits for yet leaves: at once if it is the only one of its context, or if the data of its
// reply would not gather; else with those that follow.
inline am::Leave leave_of_nbi(const Initiator& initiator, std::uint64_t reply_bytes) noexcept {
  const bool is_first = initiator.tracker->open.load(std::memory_order_relaxed) == 0;  // a hint
  return is_first || !am::Gathering::is_small(reply_bytes) ? am::Leave::now : am::Leave::soon;
}

template <class Header>
bool try_send_request(const RequestMessage& message, Header& header, const Initiator& initiator) noexcept {
  const am::Locked endpoint;
  if (requests.has_room(initiator)) {
    header.ticket = requests.open(message.placement, message.pe, initiator);
    if (endpoint->try_send(
            {.pe = message.pe, .handler = message.handler, .header = am::bytes_of(header), .leave = message.leave}))
      return true;
    requests.close(header.ticket);
  }
  endpoint->poll();
  return false;
}

// Sends `header`, whose ticket is filled in. Waits while there is no cell or no entry.
template <class Header>
void send_request(const char* routine, const RequestMessage& message, Header& header,
                  const Initiator& initiator) noexcept {
  if (try_send_request(message, header, initiator)) [[likely]]
    return;
  progress::wait_for(routine, [&] { return try_send_request(message, header, initiator); });
}

// Opens a request whose messages the caller sends. Waits while there is no entry.
Ticket open_request(const char* routine, const Placement& placement, int pe, const Initiator& initiator) noexcept;

// Waits until at most `left` replies are missing.
inline void await_replies(const char* routine, int pe, const Tracker& tracker, std::uint32_t left = 0) noexcept {
  progress::wait_until(routine, pe, [&] { return tracker.open.load(std::memory_order_acquire) <= left; });  // reply
}

// Waits for the replies to the requests of a caller. Returns their first error.
inline Code await_result(const char* routine, int pe, const Tracker& tracker) noexcept {
  await_replies(routine, pe, tracker);
  return tracker.error.load(std::memory_order_relaxed);  // written before `reply`
}

// Ends the job when `wrong` says something. `what` names the message.
[[gnu::cold, gnu::noinline]] void reject(const char* what, int source, const char* wrong) noexcept;
inline void check_message(const char* what, int source, const char* wrong) noexcept {
  if (wrong != nullptr) [[unlikely]]
    reject(what, source, wrong);
}

}  // namespace shmemx::onesided
