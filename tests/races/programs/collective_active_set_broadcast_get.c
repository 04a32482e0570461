/* races: always; class: collective; pes: 3 */
/* Behind the older broadcast PE 1 stores to its dest, and PE 2 gets from there. */
#include <shmem.h>

static long sync_work[SHMEM_BCAST_SYNC_SIZE];
static long source[2] = {3, 4};
static long dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_broadcast64(dest, source, 2, 0, 0, 0, 3, sync_work);  // race 1
  if (me == 1) dest[1] = 5;                                   // race 1
  if (me == 2) seen = shmem_long_g(&dest[1], 1);              // race 2
  shmem_finalize();
  return seen < 0;
}
