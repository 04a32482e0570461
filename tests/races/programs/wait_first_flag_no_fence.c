/* races: always; class: wait; pes: 2 */
/* Data and four flags are put without a fence between them. */
#include <shmem.h>
static long data[4], flags[4];
int main(void) {
  shmem_init();
  volatile long x = 0;
  if (shmem_my_pe() == 0) {
    long v[4] = {7, 7, 7, 7}, one[4] = {1, 1, 1, 1};
    shmem_long_put(data, v, 4, 1);  // race 1
    shmem_long_put(flags, one, 4, 1);
  } else {
    shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, 1);
    x = data[2];  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return x == 99;
}
