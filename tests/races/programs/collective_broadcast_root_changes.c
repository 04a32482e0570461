/* races: always; class: collective; pes: 3 */
/* Behind the broadcast the root changes its source, and PE 1 gets from there. */
#include <shmem.h>

static long source[4];
static long dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);
  if (me == 0) source[2] = 9;                       // race 1
  if (me == 1) seen = shmem_long_g(&source[2], 0);  // race 2
  shmem_finalize();
  return seen < 0;
}
