#include <shmem.h>

int main(void) {
  static int count = 0;
  shmem_init();
  shmem_int_finc(&count, 0); /* now: shmem_int_atomic_fetch_inc */
  shmem_barrier_all();
  const int wrong = shmem_int_fetch(&count, 0) != shmem_n_pes();
  shmem_finalize();
  return wrong;
}
