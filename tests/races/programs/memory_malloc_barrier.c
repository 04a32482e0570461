/* races: none; class: memory; pes: 2 */
/* shmem_malloc ends with a barrier: PE 1 reads what PE 0 has put before. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_p(&word, 5, 1);
  long* block = shmem_malloc(64);
  const int wrong = me == 1 && word != 5;
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
