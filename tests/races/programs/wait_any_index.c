/* races: none; class: wait; pes: 4 */
/* PE 0 takes the data of the PEs as their flags come, by the index that wait_until_any returns. */
#include <shmem.h>

static long flags[4];
static long data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long sum = 0;
  if (me > 0) {
    shmem_long_p(&data[me], 10 * me, 0);
    shmem_fence();
    shmem_long_atomic_set(&flags[me], 1, 0);
  } else {
    int done[4] = {1, 0, 0, 0};
    for (int turn = 0; turn < 3; ++turn) {
      const size_t index = shmem_long_wait_until_any(flags, 4, done, SHMEM_CMP_EQ, 1);
      sum += data[index];
      done[index] = 1;
    }
  }
  const int wrong = me == 0 && sum != 60;
  shmem_finalize();
  return wrong;
}
