/* races: always; class: collective; pes: 3 */
/* PE 2 is not of the team and puts to the dest of PE 0 while the team reduces. */
#include <shmem.h>

static int source = 1, dest;

int main(void) {
  shmem_init();
  shmem_team_t pair;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair);
  shmem_barrier_all();
  if (shmem_my_pe() == 2)
    shmem_int_p(&dest, 7, 0);  // race 1
  else
    shmem_int_sum_reduce(pair, &dest, &source, 1);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
