/* races: none; class: remote; pes: 3 */
/* Blocks of two elements, four apart, from PE 0 and from PE 1: they interleave without overlap. */
#include <shmem.h>

static long array[16];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me < 2) shmem_long_ibput(array + 2 * me, values, 4, 2, 2, 4, 2);
  shmem_barrier_all();
  const int wrong = me == 2 && (array[1] != 2 || array[2] != 1 || array[15] != 8);
  shmem_finalize();
  return wrong;
}
