/* races: none; class: team; pes: 3 */
/* Overlapping teams {0,1} and {1,2}: the syncs of both, in turn, make a chain. */
#include <shmem.h>
static long cell;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  shmem_team_t low, high;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &low);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &high);
  if (me == 0) {
    shmem_long_p(&cell, 6, 2);
    shmem_quiet();
  }
  if (me < 2) shmem_team_sync(low);
  if (me > 0) shmem_team_sync(high);
  if (me == 2) wrong = cell != 6;
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
