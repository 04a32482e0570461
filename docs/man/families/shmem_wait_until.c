#include <shmem.h>

int main(void) {
  static int data = 0, ready = 0;
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_int_p(&data, 9, next);
  shmem_fence(); /* the data before the flag */
  shmem_int_atomic_set(&ready, 1, next);
  shmem_int_wait_until(&ready, SHMEM_CMP_EQ, 1);
  const int wrong = data != 9;
  shmem_finalize();
  return wrong;
}
