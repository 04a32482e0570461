/* races: always; class: collective; pes: 2 */
/* Behind the reduction PE 1 puts to the dest of PE 0, which reads it at that time. */
#include <shmem.h>

static int source[2], dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int seen = 0;
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 2);  // race 2
  if (me == 1) shmem_int_p(&dest[0], 4, 0);                 // race 1
  if (me == 0) seen = dest[0];                              // race 2
  shmem_finalize();
  return seen < 0;
}
