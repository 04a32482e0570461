/* races: none; class: team; pes: 3 */
/* PE 1 is in both teams and synchronises the first one first: the order holds from PE 0 to PE 2. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t first, second;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &first);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &second);
  if (me == 0) shmem_long_p(&word, 5, 2);
  shmem_quiet();
  if (me < 2) shmem_team_sync(first);
  if (me > 0) shmem_team_sync(second);
  const int wrong = me == 2 && word != 5;
  shmem_finalize();
  return wrong;
}
