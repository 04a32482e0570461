// A target that waits, and computes as soon as it has what it waited for.
#include <shmem.h>
#include <unistd.h>

#include "../support/computing.hpp"
#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

// What comes while the target waits is read by the waiting thread, which may then compute: somebody has to say that it
// has come. Were it left to the next look of a sleeping thread, so many turns would take minutes.
PE_TEST_MIN(what_a_waiting_pe_has_read_is_acknowledged, 2) {
  constexpr long kTurns = 1200;
  static long arrived = 0;
  static long released = 0;
  shmem_barrier_all();
  const int last = pes() - 1;
  for (long turn = 1; turn <= kTurns && me() == 0; ++turn) {
    shmem_long_wait_until(&released, SHMEM_CMP_GE, turn);  // it is about to wait
    usleep(2000 +
           20 * static_cast<useconds_t>(turn % 50));  // it comes before, while and after the other begins to wait
    shmem_long_p(&arrived, turn, last);
    shmem_quiet();
    shmem_long_p(&released, turn, last);
  }
  for (long turn = 1; turn <= kTurns && me() == last; ++turn) {
    shmem_long_p(&released, turn, 0);
    shmem_quiet();
    usleep(2500);  // its thread goes to sleep
    shmem_long_wait_until(&arrived, SHMEM_CMP_GE, turn);
    compute_until(released, turn);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(&arrived, last), kTurns);
}

}  // namespace
