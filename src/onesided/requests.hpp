// Questions to other PEs that have no answer yet: gets and fetching atomics by messages. A table of fixed size; an
// answer names its entry by a ticket, whose generation tells it from earlier questions in the same entry.
//
// Everything but the counters is used under the endpoint's lock. Counters are changed under it and read without.
//
// Edges:  answer  open.store in close() -> open.load of whoever waits    the data that the answer brought
//         owner   owner.store(0) in close() -> owner.load in any_open()  the same, for one context and PE
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/channel.hpp"
#include "base/doorbell.hpp"
#include "context/context.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {

using Ticket = std::uint32_t;
using OpenCount = std::atomic<std::uint32_t>;
static_assert(OpenCount::is_always_lock_free);

inline constexpr std::size_t kMaxRequests = 256;  // a power of two: the low bits of a ticket

// Where the data of an answer go: blocks, one behind the other in the answer.
struct Placement {
  std::byte* at;
  std::uint64_t step;
  std::uint32_t block_bytes;
  std::uint32_t block_count;
};

// Who asked: somebody who waits, or a context whose quiet will.
struct Asker {
  OpenCount* open;
  std::uint32_t context;  // index in the table; 0 for somebody who waits
};

struct Request {
  Placement placement;
  OpenCount* open;
  std::int32_t pe;  // who will answer
  std::uint32_t generation;
  bool is_placement = false;  // the answer is on its way to its place
};

class Requests {
 public:
  bool is_full() const noexcept { return freed_ == 0 && fresh_ == kMaxRequests; }
  // Wants an entry to be free.
  Ticket open(const Placement& placement, int pe, const Asker& asker) noexcept;
  // The open request that `ticket` names, null when PE `pe` has not been asked that.
  const Request* find(Ticket ticket, int pe) const noexcept;
  // The answer to one that has been found is on its way: there is no other.
  void note_placement(Ticket ticket) noexcept { entries_[ticket % kMaxRequests].is_placement = true; }
  // After the data have placed, or when the question could not be sent.
  void close(Ticket ticket) noexcept;
  // Any thread: has PE `pe` still to answer the context?
  bool any_open(std::uint32_t context, int pe) const noexcept;
  // Any thread: answers that contexts wait for.
  std::uint32_t open_of_contexts() const noexcept { return nbi_.load(std::memory_order_acquire); }  // answer

 private:
  static std::uint64_t owner_of(std::uint32_t context, int pe) noexcept {
    return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(pe);
  }

  Request entries_[kMaxRequests] = {};
  std::atomic<std::uint64_t> owners_[kMaxRequests] = {};  // context and PE; 0: closed, or somebody waits for it
  std::uint16_t free_[kMaxRequests] = {};                 // a stack of entries used before
  std::uint32_t freed_ = 0;
  std::uint32_t fresh_ = 0;  // entries from here on were never used
  OpenCount nbi_{0};
};
inline constinit Requests requests;

// What the quiet of a context waits for.
inline constinit OpenCount open_table[context::kMaxContexts] = {};

// Of the default context where `context` is none of the table, such as the route of a team.
std::uint32_t index_of(const context::Context& context) noexcept;
inline Asker asker_of(const context::Context& context) noexcept {
  const std::uint32_t index = index_of(context);
  return {&open_table[index], index};
}

// A question: who is asked, and where the answer goes.
struct Question {
  std::int32_t pe;
  am::HandlerId handler;
  Placement placement;
};

template <class Header>
bool try_ask(const Question& question, Header& header, const Asker& asker) noexcept {
  const am::Locked endpoint;
  if (!requests.is_full()) {
    header.ticket = requests.open(question.placement, question.pe, asker);
    if (endpoint->try_send(question.pe, question.handler, am::bytes_of(header))) return true;
    requests.close(header.ticket);
  }
  endpoint->poll();
  return false;
}

// Sends `header`, whose ticket is filled in. Waits while there is no cell or no entry.
template <class Header>
void ask(const char* routine, const Question& question, Header& header, const Asker& asker) noexcept {
  if (try_ask(question, header, asker)) [[likely]]
    return;
  progress::wait_for(routine, [&] { return try_ask(question, header, asker); });
}

// Until at most `left` answers are missing.
inline void await_answers(const char* routine, int pe, const OpenCount& open, std::uint32_t left = 0) noexcept {
  progress::wait_until(routine, pe, [&] { return open.load(std::memory_order_acquire) <= left; });  // answer
}

using shmemx::wake_own_sleepers;

// Ends the job when `wrong` says something. `what` names the message.
[[gnu::cold, gnu::noinline]] void reject(const char* what, int source, const char* wrong) noexcept;
inline void check_message(const char* what, int source, const char* wrong) noexcept {
  if (wrong != nullptr) [[unlikely]]
    reject(what, source, wrong);
}

}  // namespace shmemx::onesided
