#include <shmem.h>

int main(void) {
  static int mine; /* symmetric, as the array is */
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int* all = shmem_calloc((size_t)n, sizeof *all);
  mine = me;
  shmem_int_fcollect(SHMEM_TEAM_WORLD, all, &mine, 1);
  int wrong = 0;
  for (int pe = 0; pe < n; ++pe) wrong |= all[pe] != pe;
  shmem_free(all);
  shmem_finalize();
  return wrong;
}
