/* races: none; class: collective; pes: 3 */
/* The older broadcast over an active set: PE 1 and PE 2 read their dest behind it. */
#include <shmem.h>

static long sync_work[SHMEM_BCAST_SYNC_SIZE];
static long source[2] = {3, 4};
static long dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_broadcast64(dest, source, 2, 0, 0, 0, 3, sync_work);
  if (me == 0) source[0] = 0;
  const int wrong = me > 0 && (dest[0] != 3 || dest[1] != 4);
  shmem_finalize();
  return wrong;
}
