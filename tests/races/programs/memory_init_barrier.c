/* races: none; class: memory; pes: 2 */
/* Each PE clears its new block, and a barrier stands before the puts of the neighbour. */
#include <shmem.h>
#include <string.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* block = shmem_align(256, 8 * sizeof(long));
  if (block == NULL) shmem_global_exit(1);
  memset(block, 0, 8 * sizeof(long));
  shmem_barrier_all();
  shmem_long_p(&block[3], me + 1, 1 - me);
  shmem_barrier_all();
  const int wrong = block[3] != 2 - me || block[4] != 0;
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
