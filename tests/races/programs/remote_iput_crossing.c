/* races: always; class: remote; pes: 3 */
/* Strided puts of two PEs to PE 2: every second element from 0, every third from 1. Both write element 4. */
#include <shmem.h>

static int array[6];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[3] = {1, 2, 3};
  if (me == 0) shmem_int_iput(array, values, 2, 1, 3, 2);      // race 1
  if (me == 1) shmem_int_iput(array + 1, values, 3, 1, 2, 2);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
