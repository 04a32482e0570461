/* races: always; class: team; pes: 4 */
/* The put goes to a PE of the other team: the synchronisation of the own team does not tell it. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t lower, upper;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &lower);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 2, 1, 2, NULL, 0, &upper);
  long seen = 0;
  shmem_barrier_all();
  if (me == 0) shmem_long_p(&word, 5, 2);  // race 1
  shmem_quiet();
  shmem_team_sync(me < 2 ? lower : upper);
  if (me == 2) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
