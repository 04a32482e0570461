/* races: none; class: collective; pes: 4 */
/* The older reduction over the even PEs, while the odd ones put among themselves. */
#include <shmem.h>

static long sync_work[SHMEM_REDUCE_SYNC_SIZE];
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int source, dest;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync_work[i] = SHMEM_SYNC_VALUE;
  source = me + 1;
  shmem_barrier_all();
  if (me % 2 == 0)
    shmem_int_sum_to_all(&dest, &source, 1, 0, 1, 2, work, sync_work);
  else
    shmem_int_p(&dest, 4, 4 - me);
  shmem_barrier_all();
  const int wrong = dest != 4;
  shmem_finalize();
  return wrong;
}
