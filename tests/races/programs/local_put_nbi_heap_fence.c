/* races: always; class: local; pes: 2 */
/* The source of a non-blocking put lies in the symmetric heap. shmem_fence orders deliveries, it completes nothing. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int* block = shmem_calloc(32, sizeof(int));
  if (block == NULL) shmem_global_exit(1);
  int* source = block + 16;
  if (me == 0) {
    shmem_int_put_nbi(block, source, 16, 1);  // race 1
    shmem_fence();
    source[15] = 5;  // race 2
    shmem_quiet();
  }
  shmem_free(block);
  shmem_finalize();
  return 0;
}
