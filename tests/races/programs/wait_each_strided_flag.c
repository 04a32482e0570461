/* races: none; class: wait; pes: 2 */
/* Data, a fence, and flags by a strided put: each of them says that the data are there. */
#include <shmem.h>
static long data[4], flags[8];
int main(void) {
  shmem_init();
  int bad = 0;
  if (shmem_my_pe() == 0) {
    long v[4] = {7, 7, 7, 7}, one[4] = {1, 1, 1, 1};
    shmem_long_put(data, v, 4, 1);
    shmem_fence();
    shmem_long_iput(flags, one, 2, 1, 4, 1);
  } else {
    shmem_long_wait_until(&flags[4], SHMEM_CMP_EQ, 1);
    bad = data[2] != 7;
  }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
