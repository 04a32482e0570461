/* races: none; class: remote; pes: 3 */
/* PE 0 puts to PE 2, and PE 1 gets from there behind a barrier. */
#include <shmem.h>

static long array[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long mine[8] = {0, 0, 0, 0, 0, 0, 0, 9};
  if (me == 0) shmem_long_put(array, mine, 8, 2);
  shmem_barrier_all();
  mine[7] = 0;
  if (me == 1) shmem_long_get(mine, array, 8, 2);
  const int wrong = me == 1 && mine[7] != 9;
  shmem_finalize();
  return wrong;
}
