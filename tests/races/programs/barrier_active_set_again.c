/* races: none; class: barrier; pes: 4 */
/* Barriers and syncs of one set may use one array again and again. */
#include <shmem.h>
static long psync[SHMEM_BARRIER_SYNC_SIZE];
static long box;
int main(void) {
  shmem_init();
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  int me = shmem_my_pe(), bad = 0;
  if (me > 0)
    for (long k = 0; k < 4; ++k) {
      shmem_long_p(&box, k, me % 3 + 1);
      shmem_barrier(1, 0, 3, psync);
      bad |= box != k;
      shmem_barrier(1, 0, 3, psync);
    }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
