/* races: always; class: collective; pes: 3 */
/* PE 2 puts to the dest of PE 0 before alltoall and does not wait: both write the element. */
#include <shmem.h>

static long source[6], dest[6];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 2) shmem_long_p(&dest[2], 7, 0);    // race 1
  shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 2);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
