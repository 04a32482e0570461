/* races: always; class: team; pes: 4 */
/* A PE's number in its team is taken for one in the world, so the put goes to a PE that is not in the sync. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t even = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &even);
  long seen = 0;
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  if (even != SHMEM_TEAM_INVALID) {
    shmem_quiet();
    shmem_team_sync(even);
  } else {
    seen = word;  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return seen > 5;
}
