/* races: always; class: remote; pes: 3 */
/* Blocks of two elements, four apart, from PE 0 and from PE 1. The blocks of PE 1 start one element too early. */
#include <shmem.h>

static long array[16];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me == 0) shmem_long_ibput(array, values, 4, 2, 2, 4, 2);      // race 1
  if (me == 1) shmem_long_ibput(array + 1, values, 4, 2, 2, 3, 2);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
