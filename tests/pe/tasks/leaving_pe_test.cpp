// Tasks that have gathered leave while their sender computes, without further calls of the library.
#include <sched.h>
#include <shmemx.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

enum Id { kBurst = 60, kOne = 61 };
constexpr long kTasks = 5;
long* done = nullptr;  // symmetric

// Sends several tasks to one PE: the first one leaves, the others gather.
void on_burst(int, const void*, size_t, void*) {
  for (long i = 0; i < kTasks; ++i) shmemx_task_send(right(), kOne, &i, sizeof i, 0);
}

// Counts at the PE that has sent the task.
void on_one(int source, const void*, size_t, void*) {
  shmem_long_atomic_inc(done, source);
  shmem_quiet();
}

bool helps() {
  const char* const progress = std::getenv("SHMEMX_PROGRESS");
  return progress == nullptr || std::strcmp(progress, "off") != 0;
}

}  // namespace

PE_TEST_MIN(tasks_leave_while_their_sender_computes, 2) {
  shmemx_task_register(kBurst, on_burst, nullptr);
  shmemx_task_register(kOne, on_one, nullptr);
  done = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  shmem_barrier_all();
  if (me() == 0) {
    shmemx_task_send(0, kBurst, nullptr, 0, 0);
    while (shmemx_scheduler_poll(1) == 0) {
    }
    // Without a progress thread nobody executes what other nodes ask for.
    while (helps() && std::atomic_ref(*done).load(std::memory_order_acquire) != kTasks) sched_yield();
  }
  if (me() == 1) {
    for (long run = 0; run < kTasks;) run += static_cast<long>(shmemx_scheduler_poll(16));
  }
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(*done, me() == 0 ? kTasks : 0);
  shmem_barrier_all();
  shmem_free(done);
}
