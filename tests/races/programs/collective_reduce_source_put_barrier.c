/* races: none; class: collective; pes: 2 */
/* PE 1 puts to the source of PE 0, and a barrier stands before the reduction. */
#include <shmem.h>

static int source[2], dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 1) shmem_int_p(&source[1], 4, 0);
  shmem_barrier_all();
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 2);
  const int wrong = dest[1] != 4;
  shmem_finalize();
  return wrong;
}
