/* races: none; class: team; pes: 4 */
/* Two teams reduce at the same time, each PE with its own arrays. */
#include <shmem.h>

static int source, dest;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t even, odd;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &even);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, NULL, 0, &odd);
  source = me;
  shmem_int_sum_reduce(me % 2 == 0 ? even : odd, &dest, &source, 1);
  const int wrong = dest != (me % 2 == 0 ? 2 : 4);
  shmem_finalize();
  return wrong;
}
