/* races: none; class: collective; pes: 3 */
/* PE 2 is not of the team and puts to the dest of PE 0 before a barrier of all, behind which the team reduces. */
#include <shmem.h>

static int source = 1, dest;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t pair;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair);
  if (me == 2) shmem_int_p(&dest, 7, 0);
  shmem_barrier_all();
  if (me < 2) shmem_int_sum_reduce(pair, &dest, &source, 1);
  const int wrong = dest != (me < 2 ? 2 : 0);
  shmem_finalize();
  return wrong;
}
