/* races: none; class: wait; pes: 4 */
/* PE 0 reads the data of those PEs that wait_until_some has returned, until it has all. */
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
    size_t indices[4];
    for (size_t count = 0; count < 3;) {
      const size_t found = shmem_long_wait_until_some(flags, 4, indices, done, SHMEM_CMP_EQ, 1);
      for (size_t i = 0; i < found; ++i) {
        sum += data[indices[i]];
        done[indices[i]] = 1;
      }
      count += found;
    }
  }
  const int wrong = me == 0 && sum != 60;
  shmem_finalize();
  return wrong;
}
