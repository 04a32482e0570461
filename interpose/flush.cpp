// Completion of one-sided operations.
#include <atomic>

#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/operation.hpp"

namespace shmemx::interpose {
namespace {

int send_gathered(Target& target) {
  return target.gathered != nullptr ? target.gathered->send(target.data) : SHMEMX_SUCCESS;
}

int complete_by_messages(Target& target, int (*complete_messages)(shmemx_window_t)) {
  const int sent = send_gathered(target);
  target.has_put.store(false, std::memory_order_relaxed);
  target.has_other.store(false, std::memory_order_relaxed);
  const int code = complete_messages(target.data);
  return class_of(sent != SHMEMX_SUCCESS ? sent : code);
}

// Stores to mapped memory are complete as soon as they are visible.
int complete(Target& target, int (*complete_messages)(shmemx_window_t)) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (target.mapped != nullptr || target.data == SHMEMX_WINDOW_INVALID) return MPI_SUCCESS;
  return complete_by_messages(target, complete_messages);
}

// Puts that wait for a lock can be completed only under it.
int take_late_lock_of(const Window& window) { return late_lock.window == &window ? take_late_lock() : MPI_SUCCESS; }

int complete_one(Window& window, int rank, int (*complete_messages)(shmemx_window_t)) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int code = take_late_lock_of(window); code != MPI_SUCCESS) return code;
  return complete(window.targets[static_cast<std::size_t>(rank)], complete_messages);
}

int complete_all(Window& window, int (*complete_messages)(shmemx_window_t)) {
  if (const int code = take_late_lock_of(window); code != MPI_SUCCESS) return code;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int first = MPI_SUCCESS;
  for (const int rank : window.messaged.all()) {
    const int code = complete(window.targets[static_cast<std::size_t>(rank)], complete_messages);
    if (first == MPI_SUCCESS) first = code;
  }
  return first;
}

}  // namespace

int flush(Window& window, int rank) { return complete_one(window, rank, shmemx_window_flush); }
int start_gathered(Window& window, int rank) {
  return class_of(send_gathered(window.targets[static_cast<std::size_t>(rank)]));
}
int start_all_gathered(Window& window) {
  int first = MPI_SUCCESS;
  for (const int rank : window.messaged.all()) {
    const int code = start_gathered(window, rank);
    if (first == MPI_SUCCESS) first = code;
  }
  return first;
}
int complete_before_notice(Window& window, int rank) {
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  const bool has_other = target.has_other.load(std::memory_order_relaxed);
  // A notice by a store overtakes messages. And only the target knows what memory a dynamic window has, so its reply
  // has to be awaited: the epoch is the last one that can report it.
  const bool is_dynamic = window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  if (has_other || is_dynamic || target.control_mapped != nullptr || many_threads) return flush(window, rank);
  target.has_put.store(false, std::memory_order_relaxed);
  return MPI_SUCCESS;
}
int flush_all(Window& window) { return complete_all(window, shmemx_window_flush); }
int flush_local(Window& window, int rank) { return complete_one(window, rank, shmemx_window_flush_local); }
int flush_local_all(Window& window) { return complete_all(window, shmemx_window_flush_local); }

}  // namespace shmemx::interpose
