/* races: always; class: team; pes: 3 */
/* PE 1 is in both teams and synchronises the second one first: nothing leads from PE 0 to PE 2. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t first, second;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &first);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &second);
  long seen = 0;
  shmem_barrier_all();
  if (me == 0) shmem_long_p(&word, 5, 2);  // race 1
  shmem_quiet();
  if (me > 0) shmem_team_sync(second);
  if (me < 2) shmem_team_sync(first);
  if (me == 2) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
