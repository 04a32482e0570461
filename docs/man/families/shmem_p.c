#include <shmem.h>

int main(void) {
  static long value = 0;
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_long_p(&value, 42, next);
  shmem_quiet(); /* the element is in place */
  const int wrong = shmem_long_g(&value, next) != 42;
  shmem_finalize();
  return wrong;
}
