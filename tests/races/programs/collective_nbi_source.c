/* races: always; class: collective; pes: 2 */
/* A non-blocking put still reads the array into which the reduction writes. */
#include <shmem.h>

static long ones[2] = {1, 1};
static long sum[2];
static long copy[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_put_nbi(copy, sum, 2, 1);       // race 1
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, ones, 2);  // race 2
  shmem_finalize();
  return 0;
}
