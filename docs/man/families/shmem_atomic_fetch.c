#include <shmem.h>

int main(void) {
  static long flag = 0;
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_long_atomic_set(&flag, 5, next);
  shmem_quiet();
  const int wrong = shmem_long_atomic_fetch(&flag, next) != 5;
  shmem_finalize();
  return wrong;
}
