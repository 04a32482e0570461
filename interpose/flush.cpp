// Completion of one-sided operations.
#include <atomic>

#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/operation.hpp"

namespace shmemx::interpose {
namespace {

// Stores to mapped memory are complete as soon as they are visible.
int complete(const Target& target, int (*complete_messages)(shmemx_window_t)) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (target.mapped != nullptr || target.data == SHMEMX_WINDOW_INVALID) return MPI_SUCCESS;
  return class_of(complete_messages(target.data));
}

int complete_all(Window& window, int (*complete_messages)(shmemx_window_t)) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int first = MPI_SUCCESS;
  const std::size_t count = window.messaged_count.load(std::memory_order_acquire);  // attach
  for (std::size_t i = 0; i < count; ++i) {
    const Target& target = window.targets[static_cast<std::size_t>(window.messaged[i])];
    const int code = complete(target, complete_messages);
    if (first == MPI_SUCCESS) first = code;
  }
  return first;
}

}  // namespace

int flush(Window& window, int rank) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  return complete(window.targets[static_cast<std::size_t>(rank)], shmemx_window_flush);
}
int flush_all(Window& window) { return complete_all(window, shmemx_window_flush); }
int flush_local(Window& window, int rank) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  return complete(window.targets[static_cast<std::size_t>(rank)], shmemx_window_flush_local);
}
int flush_local_all(Window& window) { return complete_all(window, shmemx_window_flush_local); }

}  // namespace shmemx::interpose
