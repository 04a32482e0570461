#include <shmem.h>

int main(void) {
  static uint64_t arrived = 0;
  shmem_init();
  const int n = shmem_n_pes();
  shmem_signal_add(&arrived, 1, 0); /* all PEs, at PE 0 */
  uint64_t count = (uint64_t)n;
  if (shmem_my_pe() == 0) count = shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)n);
  shmem_finalize();
  return count != (uint64_t)n;
}
