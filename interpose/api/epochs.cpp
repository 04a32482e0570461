// Synchronisation of windows.
#include "interpose/epoch.hpp"

#include <atomic>

#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/errors.hpp"
#include "interpose/node_lock.hpp"
#include "interpose/operation.hpp"
#include "interpose/recent_targets.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;
using interpose::find_recent_window;
using interpose::find_window;
using interpose::finish;
using interpose::Window;

SHMEMX_ENTRY int PMPI_Win_fence(int assert, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_fence(assert, win);
  return finish(*window, "MPI_Win_fence", interpose::fence(*window, assert));
}
SHMEMX_BOTH_NAMES(Win_fence, 2)

SHMEMX_ENTRY int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_start(group, assert, win);
  return finish(*window, "MPI_Win_start", interpose::start(*window, group, assert));
}
SHMEMX_BOTH_NAMES(Win_start, 3)

SHMEMX_ENTRY int PMPI_Win_complete(MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_complete(win);
  return finish(*window, "MPI_Win_complete", interpose::complete(*window));
}
SHMEMX_BOTH_NAMES(Win_complete, 1)

SHMEMX_ENTRY int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_post(group, assert, win);
  return finish(*window, "MPI_Win_post", interpose::post(*window, group, assert));
}
SHMEMX_BOTH_NAMES(Win_post, 3)

SHMEMX_ENTRY int PMPI_Win_wait(MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_wait(win);
  return finish(*window, "MPI_Win_wait", interpose::wait(*window));
}
SHMEMX_BOTH_NAMES(Win_wait, 1)

SHMEMX_ENTRY int PMPI_Win_test(MPI_Win win, int* flag) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_test(win, flag);
  return finish(*window, "MPI_Win_test", interpose::test(*window, flag));
}
SHMEMX_BOTH_NAMES(Win_test, 2)

namespace {

[[gnu::noinline]] int lock_slow(int lock_type, int rank, int assert, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_lock(lock_type, rank, assert, win);
  return finish(*window, "MPI_Win_lock", interpose::lock(*window, lock_type, rank, assert));
}

[[gnu::noinline]] int unlock_slow(int rank, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_unlock(rank, win);
  return finish(*window, "MPI_Win_unlock", interpose::unlock(*window, rank));
}

}  // namespace

SHMEMX_ENTRY int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  Window* const window = find_recent_window(win);
  if (window != nullptr && interpose::lock_quickly(*window, lock_type, rank, assert)) [[likely]]
    return MPI_SUCCESS;
  return lock_slow(lock_type, rank, assert, win);
}
SHMEMX_BOTH_NAMES(Win_lock, 4)

SHMEMX_ENTRY int PMPI_Win_unlock(int rank, MPI_Win win) {
  Window* const window = find_recent_window(win);
  int code = MPI_SUCCESS;
  if (window != nullptr && interpose::unlock_quickly(*window, rank, code)) [[likely]]
    return finish(*window, "MPI_Win_unlock", code);
  return unlock_slow(rank, win);
}
SHMEMX_BOTH_NAMES(Win_unlock, 2)

SHMEMX_ENTRY int PMPI_Win_lock_all(int assert, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_lock_all(assert, win);
  return finish(*window, "MPI_Win_lock_all", interpose::lock_all(*window, assert));
}
SHMEMX_BOTH_NAMES(Win_lock_all, 2)

SHMEMX_ENTRY int PMPI_Win_unlock_all(MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_unlock_all(win);
  return finish(*window, "MPI_Win_unlock_all", interpose::unlock_all(*window));
}
SHMEMX_BOTH_NAMES(Win_unlock_all, 1)

namespace {

// Stores to mapped memory are complete as soon as they are visible.
[[gnu::always_inline]] inline bool try_flush(int rank, MPI_Win win) noexcept {
  const interpose::RecentTarget& target = interpose::recent_target(rank);
  if (!is_recent(target, win, rank) || !target.is_locked) [[unlikely]]
    return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

template <class Routine>
[[gnu::noinline]] int flush(int rank, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(rank, win);
  int code = interpose::check_locked(*window, rank);
  if (code == MPI_SUCCESS) code = interpose::flush(*window, rank);
  return finish(*window, Routine::kName, code);
}

}  // namespace

SHMEMX_BY_SHORT_PATH(Win_flush, 2, try_flush, flush)

SHMEMX_ENTRY int PMPI_Win_flush_all(MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_flush_all(win);
  int code = interpose::check_locked_all(*window);
  if (code == MPI_SUCCESS) code = interpose::flush_all(*window);
  return finish(*window, "MPI_Win_flush_all", code);
}
SHMEMX_BOTH_NAMES(Win_flush_all, 1)

SHMEMX_ENTRY int PMPI_Win_flush_local(int rank, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_flush_local(rank, win);
  int code = interpose::check_locked(*window, rank);
  if (code == MPI_SUCCESS) code = interpose::flush_local(*window, rank);
  return finish(*window, "MPI_Win_flush_local", code);
}
SHMEMX_BOTH_NAMES(Win_flush_local, 2)

SHMEMX_ENTRY int PMPI_Win_flush_local_all(MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_flush_local_all(win);
  int code = interpose::check_locked_all(*window);
  if (code == MPI_SUCCESS) code = interpose::flush_local_all(*window);
  return finish(*window, "MPI_Win_flush_local_all", code);
}
SHMEMX_BOTH_NAMES(Win_flush_local_all, 1)

SHMEMX_ENTRY int PMPI_Win_sync(MPI_Win win) {
  if (find_window(win) == nullptr) return below().Win_sync(win);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}
SHMEMX_BOTH_NAMES(Win_sync, 1)
