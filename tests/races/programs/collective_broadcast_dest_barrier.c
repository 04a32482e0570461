/* races: none; class: collective; pes: 3 */
/* PE 1 gets the dest of PE 2 when a synchronisation has told that all PEs have their broadcast behind them. */
#include <shmem.h>

static long source[4] = {1, 2, 3, 4};
static long dest[4];

int main(void) {
  shmem_init();
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 1 && shmem_long_g(&dest[3], 2) != 4;
  shmem_finalize();
  return wrong;
}
