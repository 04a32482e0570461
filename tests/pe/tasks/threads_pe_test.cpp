// Threads that send tasks while one of them is in the scheduler.
#include <shmemx.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kThreads = 3;
constexpr long kEach = 2000;
long run_here = 0;  // of the thread in the scheduler

void on_thread_task(int, const void*, size_t, void*) {
  if (++run_here == kThreads * kEach) shmemx_scheduler_stop();
}

PE_TEST(threads_send_while_one_runs_tasks) {
  run_here = 0;
  shmemx_task_register(1, on_thread_task, nullptr);
  shmem_barrier_all();
  std::vector<std::thread> senders;
  for (int thread = 0; thread < kThreads; ++thread) {
    senders.emplace_back([thread] {
      for (long i = 0; i < kEach; ++i) shmemx_task_send(thread == 0 ? me() : right(), 1, &i, sizeof i, thread - 1);
      shmemx_task_flush();
    });
  }
  shmemx_scheduler_run();
  for (std::thread& sender : senders) sender.join();
  CHECK_EQUAL(run_here, kThreads * kEach);
  shmem_barrier_all();
  shmemx_scheduler_quiesce();
}

PE_TEST(any_thread_stops_a_run) {
  std::thread stopper([] { shmemx_scheduler_stop(); });
  CHECK_EQUAL(shmemx_scheduler_run(), 0u);
  stopper.join();
}

}  // namespace
