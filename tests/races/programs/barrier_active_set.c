/* races: none; class: barrier; pes: 3 */
/* shmem_barrier over PE 0 and PE 1 completes the put, as shmem_barrier_all does. PE 2 does not take part. */
#include <shmem.h>

static long sync_work[SHMEM_BARRIER_SYNC_SIZE];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  if (me == 0) shmem_long_p(&word, 5, 1);
  if (me < 2) shmem_barrier(0, 0, 2, sync_work);
  const int wrong = me == 1 && word != 5;
  shmem_finalize();
  return wrong;
}
