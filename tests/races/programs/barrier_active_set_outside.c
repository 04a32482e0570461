/* races: always; class: barrier; pes: 3 */
/* shmem_barrier over PE 0 and PE 1 orders nothing for PE 2, which gets the word that PE 0 has put. */
#include <shmem.h>

static long sync_work[SHMEM_BARRIER_SYNC_SIZE];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  long seen = 0;
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  if (me < 2) shmem_barrier(0, 0, 2, sync_work);
  if (me == 2) seen = shmem_long_g(&word, 1);  // race 2
  shmem_finalize();
  return seen < 0;
}
