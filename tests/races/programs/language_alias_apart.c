/* races: none; class: language; pes: 2 */
/* Two pointers into one block that never meet. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  char* block = shmem_calloc(32, 1);
  if (block == NULL) shmem_global_exit(1);
  char* end = block + 16;
  if (me == 0) shmem_char_p(end - 1, 'x', 1);
  if (me == 1) *end = 'y';
  shmem_barrier_all();
  const int wrong = me == 1 && (block[15] != 'x' || block[16] != 'y');
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
