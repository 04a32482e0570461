/* races: always; class: memory; pes: 2 */
/* Each PE clears its new block, and the neighbour may already have put to it. */
#include <shmem.h>
#include <string.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* block = shmem_malloc(8 * sizeof(long));
  if (block == NULL) shmem_global_exit(1);
  memset(block, 0, 8 * sizeof(long));   // race 1
  shmem_long_p(&block[3], me, 1 - me);  // race 2
  shmem_free(block);
  shmem_finalize();
  return 0;
}
