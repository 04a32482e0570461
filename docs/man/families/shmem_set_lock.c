#include <shmem.h>

int main(void) {
  static long lock = 0;
  static int counter = 0; /* on PE 0 */
  shmem_init();
  for (int i = 0; i < 10; ++i) {
    shmem_set_lock(&lock);
    shmem_int_p(&counter, shmem_int_g(&counter, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  const int wrong = shmem_int_g(&counter, 0) != 10 * shmem_n_pes();
  shmem_finalize();
  return wrong;
}
