/* races: none; class: atomic; pes: 3 */
/* PE 0 sets a word of PE 2 by an atomic, PE 1 fetches it by one. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 0) shmem_long_atomic_set(&word, 3, 2);
  if (me == 1) seen = shmem_long_atomic_fetch(&word, 2);
  const int wrong = seen != 0 && seen != 3;
  shmem_finalize();
  return wrong;
}
