// A target that waits for a word and computes as soon as it has arrived.
#include <shmem.h>
#include <unistd.h>

#include "../support/computing.hpp"
#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

// The waiting thread receives the message and then computes, so the progress thread must send the acknowledgement. If
// it did so only at the end of its sleep, 1200 turns would take minutes.
PE_TEST_MIN(messages_received_by_a_waiting_pe_are_acknowledged, 2) {
  constexpr long kTurns = 1200;
  static long arrived = 0;
  static long released = 0;
  shmem_barrier_all();
  const int last = pes() - 1;
  for (long turn = 1; turn <= kTurns && me() == 0; ++turn) {
    shmem_long_wait_until(&released, SHMEM_CMP_GE, turn);    // the target is about to wait
    usleep(2000 + 20 * static_cast<useconds_t>(turn % 50));  // so that the put arrives before and after the wait begins
    shmem_long_p(&arrived, turn, last);
    shmem_quiet();
    shmem_long_p(&released, turn, last);
  }
  for (long turn = 1; turn <= kTurns && me() == last; ++turn) {
    shmem_long_p(&released, turn, 0);
    shmem_quiet();
    usleep(2500);  // the progress thread falls asleep
    shmem_long_wait_until(&arrived, SHMEM_CMP_GE, turn);
    compute_until(released, turn);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(&arrived, last), kTurns);
}

// The progress thread looks seldom while a waiter has slept long. A waiter that returns calls it.
PE_TEST_MIN(a_pe_that_computes_after_a_long_sleep_is_served, 2) {
  constexpr long kTurns = 8;
  static long arrived = 0;
  static long released = 0;
  shmem_barrier_all();
  const int last = pes() - 1;
  for (long turn = 1; turn <= kTurns && me() == 0; ++turn) {
    usleep(50'000 * static_cast<useconds_t>(turn));
    shmem_long_p(&arrived, turn, last);
    shmem_quiet();
    CHECK_EQUAL(shmem_long_atomic_fetch_add(&released, 1, last), turn - 1);
  }
  for (long turn = 1; turn <= kTurns && me() == last; ++turn) {
    shmem_long_wait_until(&arrived, SHMEM_CMP_GE, turn);
    compute_until(released, turn);
  }
  shmem_barrier_all();
}

}  // namespace
