/* races: none; class: collective; pes: 3 */
/* When a broadcast has returned, the root may change its source, and each PE may read its own dest. */
#include <shmem.h>

static long source[4] = {1, 2, 3, 4};
static long dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);
  if (me == 0) source[0] = 9;
  const int wrong = dest[0] != 1 || dest[3] != 4;
  shmem_finalize();
  return wrong;
}
