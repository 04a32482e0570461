#include <shmem.h>

int main(void) {
  static long sync[SHMEM_BCAST_SYNC_SIZE];
  static int source = 0, dest = 0;
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) sync[i] = SHMEM_SYNC_VALUE;
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) source = 6;
  shmem_broadcast32(&dest, &source, 1, 0, 0, 0, shmem_n_pes(), sync);
  const int wrong = dest != (me == 0 ? 0 : 6);
  shmem_finalize();
  return wrong;
}
