/* races: none; class: barrier; pes: 2 */
/* shmem_quiet and shmem_team_sync together order the put before the store of PE 1. */
#include <shmem.h>

static int array[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[3] = {1, 2, 3};
  if (me == 0) shmem_int_put(array, values, 3, 1);
  shmem_quiet();
  shmem_team_sync(SHMEM_TEAM_WORLD);
  if (me == 1) array[1] = 7;
  shmem_barrier_all();
  const int wrong = me == 1 && (array[1] != 7 || array[2] != 3);
  shmem_finalize();
  return wrong;
}
