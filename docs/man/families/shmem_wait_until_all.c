#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int* from = shmem_calloc((size_t)n, sizeof *from);
  for (int pe = 0; pe < n; ++pe) shmem_int_atomic_set(&from[me], 1, pe);
  shmem_int_wait_until_all(from, (size_t)n, NULL, SHMEM_CMP_EQ, 1);
  const int wrong = from[n - 1] != 1;
  shmem_free(from);
  shmem_finalize();
  return wrong;
}
