/* races: none; class: language; pes: 3 */
/* An array of pointers to three blocks of the heap, one for each PE. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int* blocks[3];
  for (int i = 0; i < 3; ++i) blocks[i] = shmem_calloc(4, sizeof(int));
  if (blocks[2] == NULL) shmem_global_exit(1);
  shmem_int_p(&blocks[me][2], me + 1, 0);
  shmem_barrier_all();
  const int wrong = me == 0 && (blocks[0][2] != 1 || blocks[2][2] != 3);
  shmem_finalize();
  return wrong;
}
