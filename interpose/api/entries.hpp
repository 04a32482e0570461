// What the entry points with counts of int and those with counts of MPI_Count share.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/errors.hpp"
#include "interpose/operation.hpp"
#include "interpose/request.hpp"

namespace shmemx::interpose {

inline Local local(const void* address, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};
}

// Requests are for epochs of locks.
inline int check_passive(const Window& window, int rank) {
  const Access access = window.epochs.access;
  if (access == Access::lock || access == Access::lock_all || rank == MPI_PROC_NULL) [[likely]]
    return MPI_SUCCESS;
  return wrong(MPI_ERR_RMA_SYNC, "operations with a request need a lock of the target");
}

// Returns true if the target's memory is known to be mapped: operations are complete on return.
inline bool is_mapped(const Window& window, int rank) {
  const auto index = static_cast<unsigned>(rank);
  return index < static_cast<unsigned>(window.size) && window.targets[index].attached.load(std::memory_order_acquire) &&
         window.targets[index].mapped != nullptr;  // attach
}

// Starts an operation on a process with a counter, by start(counter), and makes its request.
template <class Start>
int with_request(const Window& window, const char* routine, int rank, MPI_Request* request, Start start) {
  if (const int code = check_passive(window, rank); code != MPI_SUCCESS) return finish(window, routine, code);
  if (is_mapped(window, rank)) [[likely]] {
    long counter = 0;
    const int code = start(&counter);
    return finish(window, routine, code == MPI_SUCCESS ? make_done_request(request) : code);
  }
  auto open = std::make_unique<OpenRequest>();
  int code = start(&open->counter);
  if (code == MPI_SUCCESS) {
    code = make_request(std::move(open), request);
  } else {
    shmemx_window_wait(&open->counter);  // parts that have left before one failed
  }
  return finish(window, routine, code);
}

}  // namespace shmemx::interpose
