/* races: none; class: collective; pes: 4 */
/* to_all of an active set with a stride, in turn with stores of the members only. */
#include <shmem.h>

static long psync[SHMEM_REDUCE_SYNC_SIZE];
static long pwork[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long mine;
static long sum;

int main(void) {
  shmem_init();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me % 2 == 0) {
    mine = me;
    shmem_long_sum_to_all(&sum, &mine, 1, 0, 1, 2, pwork, psync);
    wrong = sum != 2;
    mine = sum;
  } else {
    mine = sum = 4;
  }
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
