// PEs that wait for long, and one that computes without a call of the library, are woken seldom: counted, whatever time
// it takes.
#include <shmem.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;
using Clock = std::chrono::steady_clock;

long sleeps_of_process() {
  rusage usage{};
  CHECK_EQUAL(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_nvcsw;
}

// Waits for more than a second sleep in steps of nearly 10 ms. Two threads of a PE count, and the time before.
PE_TEST_MIN(long_waits_wake_seldom, 2) {
  constexpr long kBefore = 1500;
  constexpr double kPerSecond = 500;
  const Symmetric<long> flag;
  shmem_barrier_all();
  const long before = sleeps_of_process();
  const auto begin = Clock::now();
  if (me() == 0) {
    ::sleep(8);
    for (int pe = 1; pe < pes(); ++pe) shmem_long_p(flag.get(), 1, pe);
    shmem_quiet();
  } else {
    shmem_long_wait_until(flag.get(), SHMEM_CMP_EQ, 1);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(static_cast<double>(sleeps_of_process() - before - kBefore) < kPerSecond * seconds);
  shmem_barrier_all();
}

}  // namespace
