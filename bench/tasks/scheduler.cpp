// What the scheduler does with time: a task that comes while a handler runs, beside one that comes to an idle PE; and a
// task that goes round the PEs, each of which computes a little.
//   scheduler [--rounds n] [--case tasks_during_handler|tasks_ring]
#include <shmemx.h>

#include <array>

#include "program.hpp"

namespace {
using namespace shmemx::bench;

enum : int { kBusy = 1, kMeasured = 2, kAnswer = 3, kHop = 4, kLeave = 5 };
constexpr std::int64_t kBusyNs = 400'000, kAheadNs = 150'000;
constexpr std::int64_t kHopNs = 20'000;
constexpr std::array<std::size_t, 3> kSizes{1024, 4096, 16384};

// Clocks of the PEs agree: they are on one machine.
struct Header {
  std::int64_t sent_ns;
  bool waits_for_handler;
};

std::int64_t busy_end_ns = 0;
double delay_us = 0;
bool has_answer = false;

void be_busy(int, const void*, std::size_t, void*) {
  compute_ns(kBusyNs);
  busy_end_ns = now_ns();
}

// Answers with the time that the task took to get here, or since the handler before it has returned.
void take_measured(int source, const void* payload, std::size_t, void*) {
  Header header;
  std::memcpy(&header, payload, sizeof header);
  const std::int64_t begin = header.waits_for_handler ? busy_end_ns : header.sent_ns;
  const double us = static_cast<double>(now_ns() - begin) / 1e3;
  shmemx_task_send(source, kAnswer, &us, sizeof us, 0);
  shmemx_task_flush();
}

void take_answer(int, const void* payload, std::size_t, void*) {
  std::memcpy(&delay_us, payload, sizeof delay_us);
  has_answer = true;
}

double delay_of_one(std::size_t bytes, bool during_handler) {
  static std::array<char, kSizes.back()> payload{};
  if (during_handler) {
    shmemx_task_send(1, kBusy, nullptr, 0, 0);
    shmemx_task_flush();
    compute_ns(kAheadNs);
  }
  const Header header{now_ns(), during_handler};
  std::memcpy(payload.data(), &header, sizeof header);
  shmemx_task_send(1, kMeasured, payload.data(), bytes, 0);
  shmemx_task_flush();
  for (has_answer = false; !has_answer;) shmemx_scheduler_poll(10);
  return delay_us;
}

void leave(int, const void*, std::size_t, void*) { shmemx_scheduler_stop(); }
void end_all() {
  for (int pe = 0; pe < shmem_n_pes(); ++pe) shmemx_task_send(pe, kLeave, nullptr, 0, 1);
  shmemx_task_flush();
}

void measure_during_handler(const Options& options) {
  shmem_barrier_all();
  if (shmem_my_pe() != 0) {
    shmemx_scheduler_run();
  } else {
    for (const std::size_t bytes : kSizes) {
      std::vector<double> during, idle;
      for (int i = 0; i < 20 * options.rounds; ++i) {
        during.push_back(delay_of_one(bytes, true));
        idle.push_back(delay_of_one(bytes, false));
      }
      const Figure figure{"tasks_during_handler", bytes, "us", "from the end of the handler"};
      print_figure(figure, shmem_n_pes(), during, "");
      print_figure(figure, shmem_n_pes(), idle, kComparator);
    }
    end_all();
    shmemx_scheduler_run();
  }
  shmemx_scheduler_quiesce();
}

void pass_on(int, const void* payload, std::size_t, void*) {
  long left;
  std::memcpy(&left, payload, sizeof left);
  compute_ns(kHopNs);
  if (left == 0) return end_all();
  --left;
  shmemx_task_send((shmem_my_pe() + 1) % shmem_n_pes(), kHop, &left, sizeof left, 0);
  shmemx_task_flush();
}

void measure_ring(const Options& options) {
  const long hops = options.rounds <= 1 ? 100 : 2000;
  std::vector<double> times;
  for (int round = 0; round < options.rounds; ++round) {
    shmem_barrier_all();
    const std::int64_t begin = now_ns();
    if (shmem_my_pe() == 0) {
      shmemx_task_send(1 % shmem_n_pes(), kHop, &hops, sizeof hops, 0);
      shmemx_task_flush();
    }
    shmemx_scheduler_run();
    times.push_back(seconds_since(begin) * 1e6 / static_cast<double>(hops));
    shmemx_scheduler_quiesce();
  }
  if (shmem_my_pe() == 0) print_figure({"tasks_ring", sizeof(long), "us", ""}, shmem_n_pes(), times, "");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  shmem_init();
  shmemx_task_register(kBusy, be_busy, nullptr);
  shmemx_task_register(kMeasured, take_measured, nullptr);
  shmemx_task_register(kAnswer, take_answer, nullptr);
  shmemx_task_register(kHop, pass_on, nullptr);
  shmemx_task_register(kLeave, leave, nullptr);
  shmem_barrier_all();
  if (shmem_n_pes() == 2 && options.wants("tasks_during_handler")) measure_during_handler(options);
  if (options.wants("tasks_ring")) measure_ring(options);
  shmem_finalize();
  return 0;
}
