/* races: always; class: team; pes: 3 */
/* PE 1 meets PE 2 before it meets PE 0, so nothing leads from PE 0 to PE 2. */
#include <shmem.h>
static long cell;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  shmem_team_t low, high;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &low);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &high);
  if (me == 0) {
    shmem_long_p(&cell, 6, 2);  // race 1
    shmem_quiet();
  }
  if (me > 0) shmem_team_sync(high);
  if (me < 2) shmem_team_sync(low);
  if (me == 2) seen = cell;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen < 0;
}
