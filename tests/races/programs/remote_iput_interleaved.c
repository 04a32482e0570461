/* races: none; class: remote; pes: 3 */
/* Strided puts of two PEs to PE 2 interleave: the even elements and the odd ones. */
#include <shmem.h>

static int array[6];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[3] = {1, 2, 3};
  if (me < 2) shmem_int_iput(array + me, values, 2, 1, 3, 2);
  shmem_barrier_all();
  const int wrong = me == 2 && (array[4] != 3 || array[5] != 3);
  shmem_finalize();
  return wrong;
}
