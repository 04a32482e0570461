/* races: always; class: collective; pes: 4 */
/* A PE outside of the team reads by get the dest of a collective of the team, after a sync of the world without the
 * members. */
#include <shmem.h>

static long mine;
static long all[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t low = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &low);
  long seen = 0;
  if (low != SHMEM_TEAM_INVALID) {
    mine = me;
    shmem_long_fcollect(low, all, &mine, 1);  // race 1
  } else {
    seen = shmem_long_g(&all[1], 0);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return seen > 1;
}
