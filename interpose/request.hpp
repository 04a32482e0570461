// Requests of Rput, Rget, Raccumulate and Rget_accumulate: generalised requests of the MPI below, so that all of its
// routines that wait or test know them. Each one is completed by itself, by the routine that is given it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "interpose/handle_map.hpp"

namespace shmemx::interpose {

// An operation that is under way with its counter, and the request to be completed with it.
struct OpenRequest {
  long counter = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Makes a request that is complete. Returns an error class.
int make_done_request(MPI_Request* request);
// Called after the operation has started with the counter: makes the request, which is complete at once if the
// operation is. Returns an error class.
int make_request(std::unique_ptr<OpenRequest> open, MPI_Request* request);

// All whose operations were not complete when they were last looked at.
inline constinit LastingMap<MPI_Request, OpenRequest> requests;
inline std::atomic<std::size_t> open_requests{0};
inline bool has_open_requests() noexcept { return open_requests.load(std::memory_order_relaxed) != 0; }

// Completes the request if its operation is complete. Returns false if that is open.
bool try_complete(OpenRequest& open);

// Called by all routines of the MPI that test, before they look at their requests.
void complete_those_done(std::span<const MPI_Request> tested);
inline void before_test(int count, const MPI_Request* tested) {
  if (has_open_requests() && count > 0) [[unlikely]]
    complete_those_done({tested, static_cast<std::size_t>(count)});
}

// The requests of an array whose operations are open.
class OpenOnes {
 public:
  explicit OpenOnes(std::span<const MPI_Request> all);
  // Completes those whose operations are complete. Returns true if no other one is left.
  bool complete_those_done();

 private:
  std::vector<OpenRequest*> open_;
};

}  // namespace shmemx::interpose
