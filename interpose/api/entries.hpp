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

// Starts an operation with a counter, by start(counter), and makes its request.
template <class Start>
int with_request(const Window& window, const char* routine, MPI_Request* request, Start start) {
  auto open = std::make_unique<OpenRequest>();
  int code = start(&open->counter);
  if (code == MPI_SUCCESS) code = make_request(std::move(open), request);
  return finish(window, routine, code);
}

}  // namespace shmemx::interpose
