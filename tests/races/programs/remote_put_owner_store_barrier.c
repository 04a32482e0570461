/* races: none; class: remote; pes: 2 */
/* PE 1 stores to a word, and after a barrier PE 0 puts to it. */
#include <shmem.h>

static int word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (me == 1) word = 2;
  shmem_barrier_all();
  if (me == 0) shmem_int_p(&word, 1, 1);
  shmem_barrier_all();
  const int wrong = me == 1 && word != 1;
  shmem_finalize();
  return wrong;
}
