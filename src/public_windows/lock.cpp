#include "public_windows/lock.hpp"

#include <shmemx/windows.h>

#include "am/endpoint.hpp"
#include "onesided/locks.hpp"
#include "onesided/rdma.hpp"
#include "public_windows/completion.hpp"
#include "public_windows/error_detail.hpp"
#include "public_windows/node.hpp"
#include "public_windows/transfer.hpp"

namespace shmemx::public_windows {
namespace {

// Notes in the handle that the lock is held. Threads that share it count themselves; who holds it alone is alone.
void note_held(Attached& window, LockKind kind) {
  if (kind == LockKind::exclusive) {
    window.held.store(kHeldAlone, std::memory_order_relaxed);  // the lock orders
  } else {
    window.held.fetch_add(1, std::memory_order_relaxed);  // the lock orders
  }
}

bool may_request(const Attached& window, LockKind kind) {
  const std::int32_t held = window.held.load(std::memory_order_relaxed);  // by this PE only
  return kind == LockKind::exclusive ? held == 0 : held >= 0;
}

onesided::NodeLock node_lock(const Attached& window) { return {window.lock, &window.life->generation, window.name}; }

// Waits for a ticket's turn, or lets the counter say when it has come.
[[gnu::noinline]] Code await_ticket(const char* routine, Attached& window, LockKind kind, std::uint32_t ticket,
                                    Wait wait, long* counter) {
  if (wait == Wait::until_held)
    return onesided::await_lock(routine, node_lock(window), kind, ticket) ? SHMEMX_SUCCESS : SHMEMX_ERR_STALE;
  expect_answers();
  window.requested.store(true, std::memory_order_relaxed);  // by this PE only
  onesided::await_lock_nbi(routine, node_lock(window), kind, ticket, nonblocking(routine, window, counter).initiator);
  return SHMEMX_SUCCESS;
}

Code lock_on_node(const char* routine, Attached& window, LockKind kind, Wait wait, long* counter) {
  if (wait == Wait::not_at_all) return window.lock->try_take(kind) ? SHMEMX_SUCCESS : SHMEMX_ERR_BUSY;
  std::uint32_t ticket = 0;
  if (window.lock->take(kind, ticket)) [[likely]]
    return SHMEMX_SUCCESS;
  return await_ticket(routine, window, kind, ticket, wait, counter);
}

[[gnu::noinline]] Code lock_by_messages(const char* routine, Attached& window, LockKind kind, Wait wait,
                                        long* counter) {
  if (wait == Wait::counted) {
    window.requested.store(true, std::memory_order_relaxed);  // by this PE only
    return onesided::request_lock(nonblocking(routine, window, counter), kind, false);
  }
  onesided::Tracker open;
  const Code code = onesided::request_lock(blocking(routine, window, open), kind, wait == Wait::not_at_all);
  return note_result(window, code);
}

[[gnu::noinline]] Code lock_slow(const char* routine, Attached& window, LockKind kind, Wait wait, long* counter) {
  if (!may_request(window, kind)) return SHMEMX_ERR_LOCK;
  if (!is_alive(window)) return note_access(window, window.base, 0, SHMEMX_ERR_STALE);
  const Code code = window.lock != nullptr ? lock_on_node(routine, window, kind, wait, counter)
                                           : lock_by_messages(routine, window, kind, wait, counter);
  am::order_for_sanitizer();
  if (code == SHMEMX_SUCCESS) note_held(window, kind);
  return note_access(window, window.base, 0, code);
}

// Leaves the lock in the owner's directory, or requests that from the owner.
void release(const char* routine, const Attached& window, LockKind kind) {
  am::order_for_sanitizer();
  if (window.lock == nullptr) {
    onesided::release_lock(routine, remote_of(window), kind);
  } else if (window.lock->leave(kind)) {
    onesided::wake_lock_waiters();
  }
}

[[gnu::noinline]] Code unlock_slow(const char* routine, Attached& window) {
  const std::int32_t held = window.held.load(std::memory_order_relaxed);  // by this PE only
  if (held == 0) return SHMEMX_ERR_LOCK;
  const LockKind kind = held == kHeldAlone ? LockKind::exclusive : LockKind::shared;
  // A lock that has not been granted cannot be released: its request counts as an open operation.
  if (window.requested.load(std::memory_order_relaxed)) [[unlikely]] {  // by this PE only
    window.requested.store(false, std::memory_order_relaxed);           // the same
    note_result(window, flush(routine, window));
  }
  // The owner executes the release behind all messages of this PE, so only what goes another way has to be awaited.
  const bool by_network = onesided::has_rdma(window.owner, onesided::Direction::put) ||
                          onesided::has_rdma(window.owner, onesided::Direction::get);
  const bool follows = window.lock == nullptr && !by_network;
  if (!follows) await_all_of(routine, window.owner);
  const Code code = follows ? Code{SHMEMX_SUCCESS} : flush(routine, window);
  if (kind == LockKind::exclusive) {
    window.held.store(0, std::memory_order_relaxed);  // the lock orders
  } else {
    window.held.fetch_sub(1, std::memory_order_relaxed);  // the lock orders
  }
  if (!is_alive(window)) return code == SHMEMX_SUCCESS ? SHMEMX_ERR_STALE : code;
  release(routine, window, kind);
  return follows ? flush(routine, window) : code;
}

// Nothing of this PE with the owner is open, and no lock that may not have been granted.
bool has_nothing_open(const Attached& window) {
  return is_idle(window) && is_idle(window.owner) &&
         !window.requested.load(std::memory_order_relaxed);  // by this PE only
}

}  // namespace

Code lock(const char* routine, std::uint64_t handle, LockKind kind, Wait wait, long* counter) noexcept {
  Attached* const window = find_attached(handle);
  if (window == nullptr) [[unlikely]]
    return SHMEMX_ERR_WINDOW;
  const bool is_free = window->lock != nullptr && may_request(*window, kind) && is_alive(*window);
  if (!is_free || !window->lock->try_take(kind)) [[unlikely]]
    return lock_slow(routine, *window, kind, wait, counter);
  am::order_for_sanitizer();
  note_held(*window, kind);
  return SHMEMX_SUCCESS;
}

Code unlock(const char* routine, std::uint64_t handle) noexcept {
  Attached* const window = find_attached(handle);
  if (window == nullptr) [[unlikely]]
    return SHMEMX_ERR_WINDOW;
  const bool is_alone = window->held.load(std::memory_order_relaxed) == kHeldAlone;  // by this PE only
  if (!is_alone || window->lock == nullptr || !has_nothing_open(*window) || !is_alive(*window)) [[unlikely]]
    return unlock_slow(routine, *window);
  window->held.store(0, std::memory_order_relaxed);  // the lock orders
  release(routine, *window, LockKind::exclusive);
  return SHMEMX_SUCCESS;
}

int release_held_locks(const char* routine) noexcept {
  int owner = -1;
  if (!is_started()) return owner;
  attached_table.object.for_each([&](std::uint64_t handle, const Attached& window) {
    while (window.held.load(std::memory_order_relaxed) != 0) {  // by this PE only
      if (is_alive(window)) owner = window.owner;
      unlock(routine, handle);
    }
  });
  return owner;
}

Code put_locked(const char* routine, const LockedPut& put, const rma::Shape& target, const rma::Shape& local) noexcept {
  Attached* const lock_window = find_attached(put.lock);
  Attached* const data = find_attached(put.data);
  if (lock_window == nullptr || data == nullptr) return SHMEMX_ERR_WINDOW;
  if (lock_window->owner != data->owner) return SHMEMX_ERR_ARGUMENT;
  if (!may_request(*lock_window, put.kind)) return SHMEMX_ERR_LOCK;
  if (!is_alive(*lock_window)) return note_access(*lock_window, lock_window->base, 0, SHMEMX_ERR_STALE);
  if (const Code code = check(*data, target, local); code != SHMEMX_SUCCESS) return code;
  if (lock_window->lock == nullptr) {
    onesided::Call call = nonblocking(routine, *data, put.counter);
    call.initiator.local = nullptr;  // the data are copied
    if (onesided::try_put_locked(call, lock_window->name, put.kind, {walked(*data, target), local}))
      return SHMEMX_SUCCESS;
  }
  if (const Code code = lock(routine, put.lock, put.kind, Wait::until_held, nullptr); code != SHMEMX_SUCCESS)
    return code;
  const Code moved = transfer(routine, put.data, onesided::Direction::put, target, local, {true, nullptr});
  const Code released = unlock(routine, put.lock);
  return moved != SHMEMX_SUCCESS ? moved : released;
}

}  // namespace shmemx::public_windows
