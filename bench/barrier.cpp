// Measures a barrier of all PEs. The limit is the round trip of one cache line between two PEs, and a counter with
// sched_yield where PEs share cores.
#include <array>

#include "support/program.hpp"
#if defined(BENCH_RAW)
#include "support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

void barrier([[maybe_unused]] Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    if (work.pes == 2) {
      raw_round_trip(work);
    } else {
      raw_gate(work);
    }
#else
    shmem_barrier_all();
#endif
  }
}

constexpr std::array kCases = {Case{"barrier", 0, Unit::ns, Role::together, "", one_operation, barrier, nullptr, 2}};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
