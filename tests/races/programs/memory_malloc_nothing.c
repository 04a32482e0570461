/* races: always; class: memory; pes: 2 */
/* shmem_malloc of no bytes returns at once, without a barrier. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  void* nothing = shmem_malloc(0);
  if (me == 1) seen = word;  // race 2
  shmem_finalize();
  return seen < 0 || nothing != NULL;
}
