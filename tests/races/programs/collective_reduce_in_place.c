/* races: none; class: collective; pes: 4 */
/* Reductions in place: source and dest are one array. */
#include <shmem.h>

static long values[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  values[0] = me;
  values[1] = 10 - me;
  shmem_sync_all();
  shmem_long_max_reduce(SHMEM_TEAM_WORLD, values, values, 2);
  const int wrong = values[0] != 3 || values[1] != 10;
  shmem_finalize();
  return wrong;
}
