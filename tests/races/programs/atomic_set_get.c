/* races: always; class: atomic; pes: 3 */
/* PE 0 sets a word of PE 2 by an atomic, PE 1 gets it: a get is not atomic with it. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 0) shmem_long_atomic_set(&word, 3, 2);  // race 1
  if (me == 1) seen = shmem_long_g(&word, 2);       // race 2
  shmem_finalize();
  return seen < 0;
}
