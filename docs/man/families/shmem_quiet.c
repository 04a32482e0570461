#include <shmem.h>

int main(void) {
  static int first = 0, second = 0;
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_int_p(&first, 1, (me + 1) % n);
  shmem_quiet(); /* visible to all PEs, before anybody sees the second */
  shmem_int_atomic_set(&second, 1, (me + 2) % n);
  shmem_int_wait_until(&second, SHMEM_CMP_EQ, 1);
  const int wrong = shmem_int_g(&first, (me + n + n - 1) % n) != 1; /* written by PE me-2 */
  shmem_finalize();
  return wrong;
}
