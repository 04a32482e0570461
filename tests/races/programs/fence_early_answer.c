/* races: always; class: fence; pes: 2 */
/* PE 1 answers before it has read, and PE 0 puts the next value behind the answer. */
#include <shmem.h>

static long data;
static long turn_of_data;
static long answer;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    for (long turn = 1; turn <= 2; ++turn) {
      shmem_long_p(&data, 10 * turn, 1);  // race 1
      shmem_fence();
      shmem_long_atomic_set(&turn_of_data, turn, 1);
      shmem_long_wait_until(&answer, SHMEM_CMP_GE, turn);
    }
  } else {
    for (long turn = 1; turn <= 2; ++turn) {
      shmem_long_wait_until(&turn_of_data, SHMEM_CMP_EQ, turn);
      shmem_long_atomic_set(&answer, turn, 0);
      seen += data;  // race 2
    }
  }
  shmem_finalize();
  return seen < 0;
}
