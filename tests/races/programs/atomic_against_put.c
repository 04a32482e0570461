/* races: always; class: atomic; pes: 3 */
/* PE 0 adds to a word of PE 2 by an atomic, PE 1 puts to it. */
#include <shmem.h>

static int word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_int_atomic_add(&word, 3, 2);  // race 1
  if (me == 1) shmem_int_p(&word, 8, 2);           // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
