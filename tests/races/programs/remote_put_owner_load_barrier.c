/* races: none; class: remote; pes: 2 */
/* PE 1 reads its array behind the barrier that completes the put of PE 0. */
#include <shmem.h>

static int array[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[4] = {1, 2, 3, 4};
  if (me == 0) shmem_int_put(array, values, 4, 1);
  shmem_barrier_all();
  const int wrong = me == 1 && array[2] != 3;
  shmem_finalize();
  return wrong;
}
