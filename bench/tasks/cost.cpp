// CPU time of a task by the size of its payload, of all PEs together, one way and both ways. The comparator is the time
// of the shortest payload.
//   cost [--rounds n]
#include <shmemx.h>

#include <array>

#include "program.hpp"

namespace {
using namespace shmemx::bench;

enum : int { kTask = 1 };
constexpr std::size_t kSendsPerPoll = 32;
constexpr std::array<std::size_t, 5> kSizes{16, 64, 256, 1024, 4096};

long ran = 0;
void count_task(int, const void*, std::size_t, void*) { ++ran; }

double sum_of_all(double value) {
  static double source, dest;
  source = value;
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
  return dest;
}

// Microseconds of CPU for a task.
double measure(std::size_t bytes, int count, bool both_ways) {
  static const std::array<char, kSizes.back()> payload{};
  const int me = shmem_my_pe();
  shmem_barrier_all();
  const double begin = cpu_us();
  if (me == 0 || both_ways) {
    for (int i = 0; i < count; ++i) {
      shmemx_task_send(1 - me, kTask, payload.data(), bytes, 0);
      if (i % kSendsPerPoll == 0) shmemx_scheduler_poll(kSendsPerPoll);
    }
  }
  shmemx_scheduler_quiesce();
  return sum_of_all(cpu_us() - begin) / count / (both_ways ? 2 : 1);
}

void print_all(const Options& options, bool both_ways) {
  std::array<std::vector<double>, kSizes.size()> samples;
  const int count = options.rounds <= 1 ? 500 : 20'000;
  measure(kSizes[0], count, both_ways);  // not counted: connections and memory
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < kSizes.size(); ++i) samples[i].push_back(measure(kSizes[i], count, both_ways));
  if (shmem_my_pe() != 0) return;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    const Figure figure{"tasks_cpu", kSizes[i], "us", both_ways ? "both ways" : "one way"};
    print_figure(figure, shmem_n_pes(), samples[i], "");
    print_figure(figure, shmem_n_pes(), samples[0], kComparator);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  shmem_init();
  shmemx_task_register(kTask, count_task, nullptr);
  shmem_barrier_all();
  print_all(options, false);
  print_all(options, true);
  shmem_finalize();
  return ran >= 0 ? 0 : 1;
}
