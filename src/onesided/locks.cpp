#include "onesided/locks.hpp"

#include <shmemx/windows.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "onesided/block_runs.hpp"
#include "onesided/requests.hpp"
#include "onesided/target.hpp"
#include "onesided/wire.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;
using am::Endpoint;
using am::Message;
using am::Verdict;

// A ticket whose turn has not come, taken for a PE of another node or by this one.
struct Pending {
  NodeLock lock;
  LockKind kind;
  std::uint32_t ticket;
  std::int32_t pe;  // who requests it
  Ticket request;   // its request
  // What the PE does under the lock, a kPutRuns message: this PE does it, and releases the lock. Empty: nothing.
  std::vector<std::byte> puts = {};
};
// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
std::vector<Pending>& pending() {
  static auto* const list = new std::vector<Pending>;
  return *list;
}

void add_pending(Pending request) {
  pending().push_back(std::move(request));
  has_pending_locks = true;
}

Initiator for_lock(Initiator initiator) {
  initiator.is_lock = true;
  return initiator;
}

void answer(Endpoint& endpoint, int pe, Ticket ticket, Outcome outcome) {
  const ReplyHeader reply{ticket, outcome, 1, 0};
  endpoint.reply({.pe = pe, .handler = am::kReply, .header = bytes_of(reply)});
}

void finish_own(Ticket ticket, int pe, bool is_stale) {
  Request* const request = requests.find(ticket, pe);
  if (request == nullptr) return;
  if (is_stale) Requests::note_error(*request, SHMEMX_ERR_STALE, {});
  requests.close(ticket);
  wake_own_sleepers();
}

bool is_sound(const LockHeader& header) {
  return is_public(header.window) && header.kind >= LockKind::shared && header.kind <= LockKind::joining;
}

// Null if the window has been freed. `exposed` tells whether the name is still that of a window.
LockWord* own_word(windows::WindowName window) {
  if (lock_setup.own_words == nullptr || windows::range_of_exposed(window).base == nullptr) return nullptr;
  return lock_setup.own_words + window.index;
}

Verdict handle_lock(Endpoint& endpoint, const Message& message) {
  LockHeader header;
  const bool is_whole = decode_exactly(message.payload, header);
  check_message("a request for a lock", message.source,
                is_whole && is_sound(header) ? nullptr : "has a wrong length, window or kind");
  LockWord* const word = own_word(header.window);
  Outcome outcome = Outcome::ok;
  if (word == nullptr) {
    outcome = Outcome::stale;
  } else if (header.is_try != 0) {
    if (!word->try_take(header.kind)) outcome = Outcome::busy;
  } else {
    std::uint32_t ticket = 0;
    if (!word->take(header.kind, ticket)) {
      add_pending({{word, nullptr, header.window}, header.kind, ticket, message.source, header.ticket});
      return Verdict::done;
    }
  }
  answer(endpoint, message.source, header.ticket, outcome);
  return Verdict::done;
}

// Executes puts of a PE that has been granted the lock, and releases it.
void put_under_lock(Endpoint& endpoint, int source, LockWord& word, LockKind kind, Bytes puts) {
  const Executed result = execute_put_runs(puts, {});
  check_message("a put under a lock", source, result.wrong);
  if (word.leave(kind)) wake_lock_waiters();
  wake_own_sleepers();
  if (result.is_replied)
    endpoint.reply({.pe = source, .handler = am::kReply, .header = bytes_of(result.reply), .payload = result.data});
}

Verdict handle_put_locked(Endpoint& endpoint, const Message& message) {
  LockHeader header;
  Bytes puts;
  const bool is_whole = decode(message.payload, header, puts);
  check_message("a put under a lock", message.source,
                is_whole && is_sound(header) ? nullptr : "has a wrong length, window or kind");
  LockWord* const word = own_word(header.window);
  std::uint32_t ticket = 0;
  if (word == nullptr) {
    answer(endpoint, message.source, header.ticket, Outcome::stale);
  } else if (word->take(header.kind, ticket)) {
    put_under_lock(endpoint, message.source, *word, header.kind, puts);
  } else {
    add_pending({{word, nullptr, header.window},
                 header.kind,
                 ticket,
                 message.source,
                 header.ticket,
                 {puts.begin(), puts.end()}});
  }
  return Verdict::done;
}

Verdict handle_unlock(Endpoint&, const Message& message) {
  LockHeader header;
  const bool is_whole = decode_exactly(message.payload, header);
  check_message("the release of a lock", message.source,
                is_whole && is_sound(header) ? nullptr : "has a wrong length, window or kind");
  LockWord* const word = own_word(header.window);
  if (word != nullptr && word->leave(header.kind)) wake_lock_waiters();
  return Verdict::done;
}

bool is_alive(const Pending& request) {
  if (request.lock.generation != nullptr) return request.lock.is_alive();
  return windows::range_of_exposed(request.lock.name).base != nullptr;
}

// A shared request that has entered lets the one behind it enter, if that is a shared one, too, and those that join.
void wake_next_shared(LockKind kind) {
  if (kind == LockKind::shared) wake_lock_waiters();
}

// Returns whether the request has ended.
bool try_grant(Endpoint& endpoint, const Pending& request) {
  const bool is_stale = !is_alive(request);
  if (!is_stale && !request.lock.word->enter(request.kind, request.ticket)) return false;
  if (!is_stale) wake_next_shared(request.kind);
  if (request.pe == endpoint.me()) {
    finish_own(request.request, request.pe, is_stale);
  } else if (!is_stale && !request.puts.empty()) {
    put_under_lock(endpoint, request.pe, *request.lock.word, request.kind, request.puts);
  } else {
    answer(endpoint, request.pe, request.request, is_stale ? Outcome::stale : Outcome::ok);
  }
  return true;
}

}  // namespace

bool await_lock(const char* routine, const NodeLock& lock, LockKind kind, std::uint32_t ticket) noexcept {
  bool is_held = false;
  progress::wait_for(routine, [&] { return !lock.is_alive() || (is_held = lock.word->enter(kind, ticket)); });
  if (is_held) wake_next_shared(kind);
  return is_held;
}

void await_lock_nbi(const char* routine, const NodeLock& lock, LockKind kind, std::uint32_t ticket,
                    const Initiator& initiator) noexcept {
  const int me = am::own_endpoint().me();
  const Ticket request = open_request(routine, kNoData, me, for_lock(initiator));
  const am::Locked endpoint;
  add_pending({lock, kind, ticket, me, request});
}

void wake_lock_waiters() noexcept {
  for (const int pe : lock_setup.node_pes) wake(am::own_endpoint().doorbell_of(pe));
}

Code request_lock(const Call& call, LockKind kind, bool is_try) noexcept {
  const int pe = call.window.pe;
  LockHeader header{call.window.name, 0, kind, is_try, 0};
  send_request(call.routine, {pe, am::kWindowLock, kNoData}, header, for_lock(call.initiator));
  return call.is_awaited ? await_result(call.routine, pe, *call.initiator.tracker) : SHMEMX_SUCCESS;
}

void release_lock(const char* routine, const RemoteWindow& window, LockKind kind) noexcept {
  const LockHeader header{window.name, 0, kind, 0, 0};
  progress::send(routine, {.pe = window.pe, .handler = am::kWindowUnlock, .header = bytes_of(header)});
}

bool try_put_locked(const Call& call, windows::WindowName lock, LockKind kind, rma::PairWalk pairs) noexcept {
  const int pe = call.window.pe;
  BlockPack pack(std::min(kMostPacked, am::max_payload_bytes(pe) - sizeof(PutLockedHeader)));
  for (rma::Pair pair{}; pairs.next(pair);) {
    if (!pack.has_room(pair.bytes)) return false;
    pack.add(reinterpret_cast<std::uintptr_t>(pair.first) - call.window.base, pair.second, pair.bytes);
  }
  if (pack.is_empty()) return false;
  const Ticket ticket = open_request(call.routine, kNoData, pe, for_lock(call.initiator));
  const PutLockedHeader header{{lock, ticket, kind, 0, 0}, {call.window.name, ticket, 1}};
  progress::send(call.routine, {pe, am::kPutLocked, bytes_of(header), pack.whole()});
  return true;
}

bool grant_pending_locks(Endpoint& endpoint) noexcept {
  const std::size_t granted =
      std::erase_if(pending(), [&](const Pending& request) { return try_grant(endpoint, request); });
  has_pending_locks = !pending().empty();
  return granted != 0;
}

void set_lock_handlers() noexcept {
  am::set_handler(am::kWindowLock, handle_lock, {.role = am::Role::request});
  am::set_handler(am::kWindowUnlock, handle_unlock);
  am::set_handler(am::kPutLocked, handle_put_locked, {.role = am::Role::request});
}

}  // namespace shmemx::onesided
