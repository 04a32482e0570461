/* races: always; class: collective; pes: 3 */
/* A broadcast tells the others of the root, not the root of the others: it may return before PE 1 has begun. */
#include <shmem.h>

static long source[4];
static long dest[4];
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 1) word = 3;  // race 1
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);
  if (me == 0) seen = shmem_long_g(&word, 1);  // race 2
  shmem_finalize();
  return seen < 0;
}
