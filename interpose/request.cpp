#include "interpose/request.hpp"

#include <shmemx.h>

#include <algorithm>

#include "interpose/below.hpp"
#include "interpose/job.hpp"

namespace shmemx::interpose {
namespace {

int query(void*, MPI_Status* status) {
  below().Status_set_elements(status, MPI_BYTE, 0);
  below().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

bool is_done(const OpenRequest& open) noexcept { return __atomic_load_n(&open.counter, __ATOMIC_ACQUIRE) == 0; }

}  // namespace

// To no process: it is complete, and made in a few instructions.
int make_done_request(MPI_Request* request) {
  return below().Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, this_process(), request);
}

int make_request(std::unique_ptr<OpenRequest> open, MPI_Request* request) {
  if (shmemx_window_test(&open->counter) != 0) return make_done_request(request);
  const int code = below().Grequest_start(query, release, cancel, nullptr, request);
  if (code != MPI_SUCCESS) {
    shmemx_window_wait(&open->counter);
    return code;
  }
  open->request = *request;
  open_requests.fetch_add(1, std::memory_order_relaxed);  // a thread that waits for the request got it from this one
  requests.map.insert(*request, open.release());
  return MPI_SUCCESS;
}

// MPI does not allow two threads to complete one request.
bool try_complete(OpenRequest& open) {
  if (!is_done(open)) return false;
  const std::unique_ptr<OpenRequest> done(&open);
  requests.map.remove(done->request);
  open_requests.fetch_sub(1, std::memory_order_relaxed);
  below().Grequest_complete(done->request);
  return true;
}

void complete_those_done(std::span<const MPI_Request> tested) {
  shmemx_am_poll();
  for (const MPI_Request request : tested)
    if (OpenRequest* const open = requests.map.find(request); open != nullptr) try_complete(*open);
}

OpenOnes::OpenOnes(std::span<const MPI_Request> all) {
  for (const MPI_Request request : all)
    if (OpenRequest* const open = requests.map.find(request); open != nullptr) open_.push_back(open);
}

bool OpenOnes::complete_those_done() {
  const auto left = std::remove_if(open_.begin(), open_.end(), [](OpenRequest* open) { return try_complete(*open); });
  open_.erase(left, open_.end());
  return open_.empty();
}

}  // namespace shmemx::interpose
