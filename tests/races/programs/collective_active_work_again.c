/* races: always; class: collective; pes: 3 */
/* The next reduction uses the same work arrays, which other members may still use. */
#include <shmem.h>
static long psync[SHMEM_REDUCE_SYNC_SIZE];
static long pwork[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long a, b, c;
int main(void) {
  shmem_init();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_long_sum_to_all(&b, &a, 1, 0, 0, 3, pwork, psync);  // race 1
  shmem_long_sum_to_all(&c, &a, 1, 0, 0, 3, pwork, psync);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
