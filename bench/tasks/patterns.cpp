// Patterns of tasks: a multicast until all have answered, beside sends to half as many other PEs; and the time of calls
// while one PE is silent, beside the time when none is.
//   patterns [--rounds n] [--case tasks_multicast|tasks_silent_pe]
#include <shmemx.h>

#include <algorithm>
#include <array>

#include "program.hpp"

namespace {
using namespace shmemx::bench;

enum : int { kRequest = 1, kAnswer = 2, kEcho = 3, kStore = 4, kLeave = 5 };
constexpr std::size_t kBytes = 1024;
constexpr std::int64_t kSilentNs = 50'000'000;

int answers = 0;
void answer(int source, const void*, std::size_t, void*) { shmemx_task_send(source, kAnswer, nullptr, 0, 0); }
void count_answer(int, const void*, std::size_t, void*) { ++answers; }
void echo(int, const void* payload, std::size_t bytes, void*) { shmemx_task_reply(payload, bytes); }
void store(int, const void*, std::size_t, void*) {}
void leave(int, const void*, std::size_t, void*) { shmemx_scheduler_stop(); }

void leave_all() {
  for (int pe = 1; pe < shmem_n_pes(); ++pe) shmemx_task_send(pe, kLeave, nullptr, 0, 1);
  shmemx_task_flush();
}

void wait_for_answers(int count) {
  shmemx_task_flush();
  while (answers < count) shmemx_scheduler_poll(1000);
  answers = 0;
}

void measure_multicast(const Options& options) {
  const std::array<char, kBytes> payload{};
  const int pes = shmem_n_pes();
  std::vector<double> all_us, half_us;
  shmem_barrier_all();
  if (shmem_my_pe() != 0) {
    shmemx_scheduler_run();
  } else {
    for (int i = 0; i < 40 * options.rounds; ++i) {
      std::int64_t begin = now_ns();
      shmemx_task_multicast(SHMEM_TEAM_WORLD, kRequest, payload.data(), kBytes, 0);
      wait_for_answers(pes);
      all_us.push_back(seconds_since(begin) * 1e6);
      begin = now_ns();
      for (int pe = 1; pe <= pes / 2; ++pe) shmemx_task_send(pe, kRequest, payload.data(), kBytes, 0);
      wait_for_answers(pes / 2);
      half_us.push_back(seconds_since(begin) * 1e6);
    }
    leave_all();
    const Figure figure{"tasks_multicast", kBytes, "us", "until all have answered"};
    print_figure(figure, pes, all_us, "");
    print_figure(figure, pes, half_us, kComparator);
  }
  shmemx_scheduler_quiesce();
}

// Returns the times of calls to PEs that run tasks, in microseconds, for the time that the last PE is silent.
std::vector<double> call_others(bool last_is_silent) {
  const int last = shmem_n_pes() - 1;
  std::vector<double> times;
  shmem_barrier_all();
  if (shmem_my_pe() == last && last_is_silent) sleep_ms(kSilentNs / 1'000'000);
  if (shmem_my_pe() != 0) {
    shmemx_scheduler_run();
  } else {
    const std::array<char, kBytes> payload{};
    int pe = 1;
    for (const std::int64_t end = now_ns() + kSilentNs; now_ns() < end; pe = pe % (last - 1) + 1) {
      long result = 0;
      shmemx_request_t request;
      shmemx_task_send(last, kStore, payload.data(), kBytes, 0);
      const std::int64_t begin = now_ns();
      shmemx_task_call(pe, kEcho, &begin, sizeof begin, &result, sizeof result, &request);
      shmemx_wait(&request, nullptr);
      times.push_back(seconds_since(begin) * 1e6);
    }
    leave_all();
  }
  shmemx_scheduler_quiesce();
  return times;
}

void measure_silent_pe(const Options& options) {
  std::vector<double> p99[2];
  for (int round = 0; round < options.rounds; ++round)
    for (const bool silent : {true, false}) p99[silent ? 0 : 1].push_back(summarize(call_others(silent), false).p99);
  if (shmem_my_pe() != 0) return;
  const Figure figure{"tasks_silent_pe", 8, "us", "p99 of calls to the others"};
  print_figure(figure, shmem_n_pes(), p99[0], "");
  print_figure(figure, shmem_n_pes(), p99[1], kComparator);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  shmem_init();
  shmemx_task_register(kRequest, answer, nullptr);
  shmemx_task_register(kAnswer, count_answer, nullptr);
  shmemx_task_register(kEcho, echo, nullptr);
  shmemx_task_register(kStore, store, nullptr);
  shmemx_task_register(kLeave, leave, nullptr);
  shmem_barrier_all();
  if (options.wants("tasks_multicast")) measure_multicast(options);
  if (options.wants("tasks_silent_pe") && shmem_n_pes() > 2) measure_silent_pe(options);
  shmem_finalize();
  return 0;
}
