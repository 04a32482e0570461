/* races: always; class: collective; pes: 2 */
/* A PE stores to pWrk when the other one may be in the reduction. */
#include <shmem.h>
static long psync[SHMEM_REDUCE_SYNC_SIZE];
static long pwork[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long a, b;
int main(void) {
  shmem_init();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  if (shmem_my_pe() == 1) pwork[0] = 4;                     // race 1
  shmem_long_sum_to_all(&b, &a, 1, 0, 0, 2, pwork, psync);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
