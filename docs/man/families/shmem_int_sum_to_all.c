#include <shmem.h>

int main(void) {
  static long sync[SHMEM_REDUCE_SYNC_SIZE];
  static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], one = 1, sum = 0;
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync[i] = SHMEM_SYNC_VALUE;
  shmem_init();
  shmem_int_sum_to_all(&sum, &one, 1, 0, 0, shmem_n_pes(), work, sync);
  const int wrong = sum != shmem_n_pes();
  shmem_finalize();
  return wrong;
}
