/* races: always; class: collective; pes: 3 */
/* PE 1 has its broadcast behind it and gets the dest of PE 2, which may not have it yet. */
#include <shmem.h>

static long source[4];
static long dest[4];

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);  // race 1
  if (shmem_my_pe() == 1) seen = shmem_long_g(&dest[3], 2);    // race 2
  shmem_finalize();
  return seen < 0;
}
