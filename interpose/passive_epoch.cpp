// Passive target: locks of one target or of all.
#include <utility>

#include "interpose/control.hpp"
#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/operation.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose {
namespace {

// Waits until the target's process grants the lock. `holds_others`: this process holds locks of the window, which
// others may wait for.
int acquire(Window& window, Target& target, Lock kind, bool holds_others) {
  if (const int code = attach(window, target); code != MPI_SUCCESS) return code;
  long open = 0;
  const int shared = holds_others ? SHMEMX_LOCK_JOIN : SHMEMX_LOCK_SHARED;
  const int shmemx_kind = kind == Lock::exclusive ? SHMEMX_LOCK_EXCLUSIVE : shared;
  if (const int code = shmemx_window_lock_nbi(target.control, shmemx_kind, &open); code != SHMEMX_SUCCESS)
    return class_of(code);
  wait_for_counter(&open);
  if (target.control_mapped == nullptr || !control::is_exposed(target)) return MPI_SUCCESS;
  shmemx_window_unlock(target.control);
  return wrong(MPI_ERR_RMA_CONFLICT, "the target's memory is exposed by MPI_Win_post");
}

int release(Target& target) {
  const Lock kind = target.lock;
  target.lock = Lock::none;
  target.open.store(0, std::memory_order_relaxed);
  close_recent_targets();
  if (kind != Lock::shared && kind != Lock::exclusive) return MPI_SUCCESS;
  return class_of(shmemx_window_unlock(target.control));
}

void allow(const Window& window, Target& target) {
  target.open.store(window.epochs.number.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

int check_rank(const Window& window, int rank) {
  if (rank >= 0 && rank < window.size) return MPI_SUCCESS;
  return wrong(MPI_ERR_RANK, "the target rank is not in the window's group");
}

// The lock that lock_all has left until the first access. Only the first thread takes it.
int lock_late(Window& window, Target& target) {
  const Guard guard(window.epochs.late_locks);
  if (target.lock == Lock::none) {
    if (!window.epochs.lock_all_unchecked) {
      const bool is_first = window.targets[static_cast<std::size_t>(window.own.rank)].lock == Lock::none;
      if (const int code = acquire(window, target, Lock::shared, !is_first); code != MPI_SUCCESS) return code;
    }
    target.lock = window.epochs.lock_all_unchecked ? Lock::unchecked : Lock::shared;
  }
  allow(window, target);
  return MPI_SUCCESS;
}

constexpr char kExposed[] = "the memory of this process is exposed to others by MPI_Win_post";

// Counts one more target that is locked by itself.
int enter_lock(Window& window, Target& target, Lock kind) {
  Epochs& epochs = window.epochs;
  const Guard guard(window.mutex);
  if (epochs.access != Access::lock)
    if (const int code = check_no_access(window); code != MPI_SUCCESS) return code;
  if (epochs.is_exposed && &target == &window.targets[static_cast<std::size_t>(window.own.rank)])
    return wrong(MPI_ERR_RMA_SYNC, kExposed);
  if (target.lock != Lock::none) return wrong(MPI_ERR_RMA_SYNC, "the target is locked by this process already");
  if (epochs.access != Access::lock) next_epoch(epochs);
  epochs.access = Access::lock;
  target.lock = kind;
  ++epochs.locks;
  return MPI_SUCCESS;
}

// May the lock wait for the first operation that needs it? On its own node it costs less than a message, and loads and
// stores that it protects are not seen here.
bool may_wait(const Window& window, const Target& target) {
  if (target.control_mapped != nullptr || many_threads || window.epochs.locks != 1) return false;
  return shmemx_node_pe(target.pe) < 0;
}

void leave_lock(Window& window) {
  Epochs& epochs = window.epochs;
  const Guard guard(window.mutex);
  if (--epochs.locks != 0) return;
  epochs.access = Access::none;
  next_epoch(epochs);
}

int acquire_or_leave(Window& window, Target& target, Lock kind) {
  const int code = acquire(window, target, kind, window.epochs.locks > 1);
  if (code == MPI_SUCCESS) return code;
  target.lock = Lock::none;
  leave_lock(window);
  return code;
}

// Ends an epoch whose lock has not been taken: its puts go with the request. Without puts there is nothing to do.
int end_late_lock(Window& window, int rank) {
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  const Lock kind = std::exchange(target.lock, Lock::none);
  late_lock = {};
  int result = MPI_SUCCESS;
  if (target.gathered != nullptr && !target.gathered->is_empty()) {
    const int shmemx_kind = kind == Lock::exclusive ? SHMEMX_LOCK_EXCLUSIVE : SHMEMX_LOCK_SHARED;
    long open = 0;
    result = class_of(target.gathered->send_locked(target.control, shmemx_kind, target.data, &open));
    wait_for_counter(&open);
    const int code = flush(window, rank);
    if (result == MPI_SUCCESS) result = code;
  }
  leave_lock(window);
  return result;
}

}  // namespace

int take_late_lock_slow() {
  const LateLock late = std::exchange(late_lock, {});
  const int code = acquire_or_leave(*late.window, *late.target, late.target->lock);
  if (code == MPI_SUCCESS) {
    allow(*late.window, *late.target);
  } else if (late.target->gathered != nullptr) {
    late.target->gathered->clear();  // their epoch is over
  }
  return code;
}

int open_target(Window& window, Target& target) {
  switch (window.epochs.access) {
    case Access::fence:
      window.epochs.has_fenced.store(true, std::memory_order_relaxed);
      allow(window, target);
      return MPI_SUCCESS;
    case Access::lock_all:
      return lock_late(window, target);
    case Access::lock:
      if (late_lock.target == &target) return take_late_lock();
      return wrong(MPI_ERR_RMA_SYNC, "the access epoch does not contain the target");
    case Access::none:
      return wrong(MPI_ERR_RMA_SYNC, "no access epoch is open");
    default:
      return wrong(MPI_ERR_RMA_SYNC, "the access epoch does not contain the target");
  }
}

int lock(Window& window, int type, int rank, int assert) {
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
    return wrong(MPI_ERR_LOCKTYPE, "the lock type is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return wrong(MPI_ERR_ASSERT, "the assertion is not one of this routine's");
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_rank(window, rank); code != MPI_SUCCESS) return code;
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  const Lock wanted = type == MPI_LOCK_SHARED ? Lock::shared : Lock::exclusive;
  const Lock kind = (assert& MPI_MODE_NOCHECK) != 0 ? Lock::unchecked : wanted;
  if (const int code = take_late_lock(); code != MPI_SUCCESS) return code;
  if (const int code = attach(window, target); code != MPI_SUCCESS) return code;
  if (const int code = enter_lock(window, target, kind); code != MPI_SUCCESS) return code;
  if (kind != Lock::unchecked) {
    if (may_wait(window, target)) {
      late_lock = {&window, &target};
      return MPI_SUCCESS;
    }
    if (const int code = acquire_or_leave(window, target, kind); code != MPI_SUCCESS) return code;
  }
  allow(window, target);
  return MPI_SUCCESS;
}

int unlock(Window& window, int rank) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_rank(window, rank); code != MPI_SUCCESS) return code;
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  if (window.epochs.access != Access::lock || target.lock == Lock::none)
    return wrong(MPI_ERR_RMA_SYNC, "the target is not locked by MPI_Win_lock of this process");
  if (late_lock.target == &target) return end_late_lock(window, rank);
  // Stores to mapped memory need no more than the release of the lock. Operations by messages are executed before the
  // next process gets it; here they have to be complete, too.
  const bool is_visible = target.mapped != nullptr && target.lock != Lock::unchecked;
  int result = is_visible ? MPI_SUCCESS : start_gathered(window, rank);
  const int code = release(target);
  if (!is_visible && result == MPI_SUCCESS) result = flush(window, rank);
  leave_lock(window);
  return result != MPI_SUCCESS ? result : code;
}

int lock_all(Window& window, int assert) {
  Epochs& epochs = window.epochs;
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return wrong(MPI_ERR_ASSERT, "the assertion is not one of this routine's");
  if (const int code = check_no_access(window); code != MPI_SUCCESS) return code;
  if (epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, kExposed);
  if (const int code = take_late_lock(); code != MPI_SUCCESS) return code;
  epochs.lock_all_unchecked = (assert& MPI_MODE_NOCHECK) != 0;
  epochs.access = Access::lock_all;
  next_epoch(epochs);
  if (epochs.lock_all_unchecked) return MPI_SUCCESS;
  // Loads and stores are not seen here, so the locks of memory that they can reach are taken now: of this process, or
  // of all of a shared window.
  const bool shared = window.flavor == MPI_WIN_FLAVOR_SHARED;
  const int first = shared ? 0 : window.own.rank;
  const int end = shared ? window.size : first + 1;
  for (int rank = first; rank < end; ++rank) {
    const int code = lock_late(window, window.targets[static_cast<std::size_t>(rank)]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int unlock_all(Window& window) {
  Epochs& epochs = window.epochs;
  if (epochs.access != Access::lock_all)
    return wrong(MPI_ERR_RMA_SYNC, "the window is not locked by MPI_Win_lock_all of this process");
  int result = start_all_gathered(window);
  for (int rank = 0; rank < window.size; ++rank) {
    Target& target = window.targets[static_cast<std::size_t>(rank)];
    if (target.lock == Lock::none) continue;
    const int code = release(target);
    if (result == MPI_SUCCESS) result = code;
  }
  const int code = flush_all(window);
  if (result == MPI_SUCCESS) result = code;
  epochs.access = Access::none;
  next_epoch(epochs);
  return result;
}

int check_locked(const Window& window, int rank) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = check_rank(window, rank); code != MPI_SUCCESS) return code;
  return is_locked(window, window.targets[static_cast<std::size_t>(rank)])
             ? MPI_SUCCESS
             : wrong(MPI_ERR_RMA_SYNC, "the target is not locked by this process");
}

int check_locked_all(const Window& window) {
  const Access access = window.epochs.access;
  if (access == Access::lock_all || access == Access::lock) return MPI_SUCCESS;
  return wrong(MPI_ERR_RMA_SYNC, "no target is locked by this process");
}

}  // namespace shmemx::interpose
