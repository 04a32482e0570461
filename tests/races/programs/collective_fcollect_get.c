/* races: always; class: collective; pes: 3 */
/* PE 0 gets from the dest of PE 2, which may still be in fcollect. */
#include <shmem.h>

static int source[2];
static int dest[6];

int main(void) {
  shmem_init();
  int seen = 0;
  shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, 2);    // race 1
  if (shmem_my_pe() == 0) seen = shmem_int_g(&dest[3], 2);  // race 2
  shmem_finalize();
  return seen < 0;
}
