// Requests of Rput, Rget, Raccumulate and Rget_accumulate: generalised requests of the MPI below, so that all of its
// routines that wait or test know them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace shmemx::interpose {

// An operation that is under way with its counter, and the request to be completed with it.
struct OpenRequest {
  long counter = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Called after the operation has started with the counter: makes the request, which is complete at once if the
// operation is. Returns an error class.
int make_request(std::unique_ptr<OpenRequest> open, MPI_Request* request);

// The number of requests whose operations are open.
extern std::atomic<std::size_t> open_requests;

// Completes the requests whose operations are complete; with `wait`, all of them: operations do not depend on what the
// program does next, so that takes no longer than their data need.
void complete_requests(bool wait);

// Called by all routines of the MPI that wait or test, before they look at their requests.
inline void before_wait() {
  if (open_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
    complete_requests(true);
}
inline void before_test() {
  if (open_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
    complete_requests(false);
}

}  // namespace shmemx::interpose
