/* races: always; class: barrier; pes: 4 */
/* Pairs of PEs have barriers of their own, but the puts go to the other pair. */
#include <shmem.h>

static long psync[SHMEM_BARRIER_SYNC_SIZE];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_long_p(&word, me, me ^ 2);  // race 1
  shmem_barrier(me & 2, 0, 2, psync);
  const long seen = word;  // race 2
  shmem_finalize();
  return seen > 3;
}
