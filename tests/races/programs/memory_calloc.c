/* races: none; class: memory; pes: 2 */
/* shmem_calloc has cleared the block on all PEs when it returns: puts may follow at once. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* block = shmem_calloc(8, sizeof(long));
  if (block == NULL) shmem_global_exit(1);
  shmem_long_p(&block[3], me + 1, 1 - me);
  shmem_barrier_all();
  const int wrong = block[3] != 2 - me || block[4] != 0;
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
