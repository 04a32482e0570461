#include <shmem.h>

int main(void) {
  shmem_init();
  const size_t n = (size_t)shmem_n_pes();
  long* box = shmem_calloc(n, sizeof *box);
  if (box == NULL) shmem_global_exit(1);
  for (int pe = 0; pe < (int)n; ++pe) shmem_long_p(&box[shmem_my_pe()], 1, pe);
  shmem_barrier_all();
  long sum = 0;
  for (size_t i = 0; i < n; ++i) sum += box[i];
  shmem_free(box);
  shmem_finalize();
  return sum != (long)n;
}
