/* races: always; class: collective; pes: 2 */
/* The second broadcast may write dest while PE 1 still reads it: dest must be ready before any PE calls. */
#include <shmem.h>

static long source[2] = {1, 2};
static long dest[2];

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0);
  seen += dest[1];                                             // race 1
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0);  // race 2
  shmem_finalize();
  return seen < 0;
}
