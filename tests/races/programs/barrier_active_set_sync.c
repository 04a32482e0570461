/* races: always; class: barrier; pes: 3 */
/* The active-set form of shmem_sync completes no put, unlike shmem_barrier. */
#include <shmem.h>

static long sync_work[SHMEM_SYNC_SIZE];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  if (me < 2) shmem_sync(0, 0, 2, sync_work);
  if (me == 1) word = 6;  // race 2
  shmem_finalize();
  return 0;
}
