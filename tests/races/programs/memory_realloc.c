/* races: none; class: memory; pes: 2 */
/* shmem_realloc keeps the contents, and it holds a barrier: the neighbour gets from the new block. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* block = shmem_malloc(4 * sizeof(long));
  if (block == NULL) shmem_global_exit(1);
  block[3] = me;
  shmem_barrier_all();
  block = shmem_realloc(block, 4096 * sizeof(long));
  if (block == NULL) shmem_global_exit(1);
  shmem_barrier_all();
  const int wrong = shmem_long_g(&block[3], 1 - me) != 1 - me;
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
