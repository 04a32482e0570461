/* races: none; class: team; pes: 4 */
/* Two teams of two PEs. Within each, a put, quiet and shmem_team_sync. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t lower, upper;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &lower);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 2, 1, 2, NULL, 0, &upper);
  shmem_team_t mine = me < 2 ? lower : upper;
  shmem_long_p(&word, me, me ^ 1);
  shmem_quiet();
  shmem_team_sync(mine);
  const int wrong = word != (me ^ 1);
  shmem_finalize();
  return wrong;
}
