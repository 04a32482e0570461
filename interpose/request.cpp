#include "interpose/request.hpp"

#include <shmemx.h>

#include <deque>
#include <mutex>

#include "interpose/below.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose {

std::atomic<std::size_t> open_requests{0};

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

// In the order in which they were started. Only a thread that holds the mutex removes any.
struct Queue {
  std::mutex mutex;
  std::deque<std::unique_ptr<OpenRequest>> open;
};
Queue& queue() {
  static Queue& made = *new Queue;  // never destroyed: threads may wait while the process ends
  return made;
}

}  // namespace

int make_request(std::unique_ptr<OpenRequest> open, MPI_Request* request) {
  const int code = below().Grequest_start(query, release, cancel, nullptr, request);
  if (code != MPI_SUCCESS) shmemx_window_wait(&open->counter);
  if (shmemx_window_test(&open->counter) != 0) {
    if (code == MPI_SUCCESS) below().Grequest_complete(*request);
    return code;
  }
  open->request = *request;
  const std::lock_guard guard(queue().mutex);
  queue().open.push_back(std::move(open));
  open_requests.store(queue().open.size(), std::memory_order_relaxed);  // read again under the mutex
  return MPI_SUCCESS;
}

// Operations complete nearly in the order in which they were started, so a test ends at the first open one.
void complete_requests(bool wait) {
  auto& [mutex, open] = queue();
  const std::lock_guard guard(mutex);
  while (!open.empty()) {
    const OpenRequest& first = *open.front();
    if (wait) wait_until([&] { return shmemx_window_test(&first.counter) != 0; });
    if (shmemx_window_test(&first.counter) == 0) break;
    below().Grequest_complete(first.request);
    open.pop_front();
  }
  open_requests.store(open.size(), std::memory_order_relaxed);
}

}  // namespace shmemx::interpose
