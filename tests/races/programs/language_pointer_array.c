/* races: always; class: language; pes: 3 */
/* An array of pointers to blocks of the heap, of which two are the same by mistake. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int* blocks[3];
  for (int i = 0; i < 2; ++i) blocks[i] = shmem_calloc(4, sizeof(int));
  blocks[2] = blocks[1];
  if (blocks[1] == NULL) shmem_global_exit(1);
  shmem_int_p(&blocks[me][2], me, 0);  // race 1 and 2
  shmem_barrier_all();
  const int wrong = blocks[1][2] < 0;
  shmem_finalize();
  return wrong;
}
