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

int finished = 0;  // threads of all PEs; of the thread in the scheduler

void on_echo(int, const void* payload, size_t bytes, void*) { shmemx_task_reply(payload, bytes); }
void on_finished(int, const void*, size_t, void*) {
  if (++finished == kThreads * shmem_n_pes()) shmemx_scheduler_stop();
}

// Returns how many replies are wrong.
int call_many(int thread) {
  int wrong = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const std::size_t words = turn % 20 == 0 ? 50'000 : 1 + static_cast<std::size_t>(turn) * 10;
    const std::vector<int> out(words, thread * 1000 + turn);
    std::vector<int> in(words, -1);
    shmemx_request_t request;
    shmemx_task_call(turn % 3 == 0 ? me() : right(), 2, out.data(), words * sizeof(int), in.data(), words * sizeof(int),
                     &request);
    shmemx_wait(&request, nullptr);
    wrong += in != out;
  }
  shmemx_task_multicast(SHMEM_TEAM_WORLD, 3, nullptr, 0, 0);
  shmemx_task_flush();
  return wrong;
}

PE_TEST(threads_call_while_one_runs_tasks) {
  finished = 0;
  shmemx_task_register(2, on_echo, nullptr);
  shmemx_task_register(3, on_finished, nullptr);
  shmem_barrier_all();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < kThreads; ++thread) callers.emplace_back([&, thread] { wrong += call_many(thread); });
  shmemx_scheduler_run();
  for (std::thread& caller : callers) caller.join();
  CHECK_EQUAL(wrong.load(), 0);
  shmem_barrier_all();
  shmemx_scheduler_quiesce();
}

PE_TEST(any_thread_stops_a_run) {
  std::thread stopper([] { shmemx_scheduler_stop(); });
  CHECK_EQUAL(shmemx_scheduler_run(), 0u);
  stopper.join();
}

}  // namespace
