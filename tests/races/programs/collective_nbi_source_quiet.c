/* races: none; class: collective; pes: 2 */
/* shmem_quiet completes the non-blocking put, then the reduction writes into its source. */
#include <shmem.h>

static long ones[2] = {1, 1};
static long sum[2];
static long copy[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_put_nbi(copy, sum, 2, 1);
  shmem_quiet();
  shmem_sync_all();
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, ones, 2);
  const int wrong = sum[1] != 2 || copy[1] != 0;
  shmem_finalize();
  return wrong;
}
