/* races: none; class: remote; pes: 2 */
/* Two puts of one PE to one word, ordered by shmem_fence. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_long_p(&word, 1, 1);
    shmem_fence();
    shmem_long_p(&word, 2, 1);
  }
  shmem_barrier_all();
  const int wrong = me == 1 && word != 2;
  shmem_finalize();
  return wrong;
}
