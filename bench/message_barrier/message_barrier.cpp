// Measures a barrier of 2 to 16 PEs, by words in shared memory and by messages. The raw program is the barrier of the
// paper: a counter and a signal, each in a line of its own. Ours runs twice, the second time with
// SHMEMX_NODE_PATH=queue, where PEs communicate by messages only.
#include <array>

#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

void barriers([[maybe_unused]] Work& work, long iterations) {
#if defined(BENCH_RAW)
  Shared* first = work.job->remote(work.shared, 0);
  std::atomic<long>& count = first->gate.sequence;
  std::atomic<long>& signal = first->gate_release.sequence;
#endif
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    const long before = signal.load(std::memory_order_relaxed);  // no process flips it before this one has arrived
    if (count.fetch_add(1, std::memory_order_acq_rel) == work.pes - 1) {
      count.store(0, std::memory_order_relaxed);            // the release of the signal orders it
      signal.store(1 - before, std::memory_order_release);  // edge `signal`
    } else {
      while (signal.load(std::memory_order_acquire) == before) {  // edge `signal`
        if (work.crowded) sched_yield();
        if (work.method == 1) __builtin_ia32_pause();
      }
    }
#elif defined(BENCH_MPI)
    MPI_Barrier(MPI_COMM_WORLD);
#else
    shmem_barrier_all();
#endif
  }
}

constexpr std::array kCases = {
    Case{"message_barrier", 0, Unit::us, Role::together, "direct", one_operation, barriers, nullptr, 2},
    Case{"message_barrier", 0, Unit::us, Role::together, "queue path", one_operation, barriers, nullptr, 2},
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
