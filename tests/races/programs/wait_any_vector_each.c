/* races: none; class: wait; pes: 4 */
/* PE 0 takes the data of whoever has come, by wait_until_any_vector with a status array. */
#include <shmem.h>

static long flags[4];
static long data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me != 0) {
    shmem_long_p(&data[me], 10 * me, 0);
    shmem_fence();
    shmem_long_p(&flags[me], me, 0);
  } else {
    long values[4] = {0, 1, 2, 3};
    int status[4] = {1, 0, 0, 0};
    for (int k = 0; k < 3; ++k) {
      const size_t i = shmem_long_wait_until_any_vector(flags, 4, status, SHMEM_CMP_EQ, values);
      wrong |= data[i] != 10 * (long)i;
      status[i] = 1;
    }
  }
  shmem_finalize();
  return wrong;
}
