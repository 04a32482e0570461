/* races: none; class: barrier; pes: 4 */
/* Pairs of PEs exchange behind barriers of two active sets. */
#include <shmem.h>

static long psync_low[SHMEM_BARRIER_SYNC_SIZE];
static long psync_high[SHMEM_BARRIER_SYNC_SIZE];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int first = me & 2;
  long* const work = first == 0 ? psync_low : psync_high;
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) psync_low[i] = psync_high[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  int wrong = 0;
  for (int k = 0; k < 3; ++k) {
    shmem_long_p(&word, me + k, me ^ 1);
    shmem_barrier(first, 0, 2, work);
    wrong |= word != (me ^ 1) + k;
    shmem_barrier(first, 0, 2, work);
  }
  shmem_finalize();
  return wrong;
}
