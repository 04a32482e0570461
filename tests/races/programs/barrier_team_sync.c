/* races: always; class: barrier; pes: 2 */
/* shmem_team_sync completes no put. */
#include <shmem.h>

static int array[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[3] = {1, 2, 3};
  if (me == 0) shmem_int_put(array, values, 3, 1);  // race 1
  shmem_team_sync(SHMEM_TEAM_WORLD);
  if (me == 1) array[1] = 7;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
