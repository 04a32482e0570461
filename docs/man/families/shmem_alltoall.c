#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int* dest = shmem_calloc((size_t)n, sizeof *dest);
  int* source = shmem_malloc((size_t)n * sizeof *source);
  for (int pe = 0; pe < n; ++pe) source[pe] = 100 * me + pe;
  shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
  int wrong = 0;
  for (int pe = 0; pe < n; ++pe) wrong |= dest[pe] != 100 * pe + me;
  shmem_free(source);
  shmem_free(dest);
  shmem_finalize();
  return wrong;
}
