/* races: none; class: fence; pes: 2 */
/* Data and flags go forth and back: each PE answers after it has read, and puts after it has the answer. */
#include <shmem.h>

static long data;
static long turn_of_data;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  for (long turn = 1; turn <= 10; ++turn) {
    if (turn % 2 == me) {
      shmem_long_p(&data, 10 * turn, 1 - me);
      shmem_fence();
      shmem_long_atomic_set(&turn_of_data, turn, 1 - me);
    } else {
      shmem_long_wait_until(&turn_of_data, SHMEM_CMP_EQ, turn);
      wrong |= data != 10 * turn;
    }
  }
  shmem_finalize();
  return wrong;
}
