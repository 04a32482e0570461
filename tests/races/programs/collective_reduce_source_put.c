/* races: always; class: collective; pes: 2 */
/* PE 1 puts to the source of PE 0 just before the reduction reads it. */
#include <shmem.h>

static int source[2], dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (me == 1) shmem_int_p(&source[1], 4, 0);               // race 1
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 2);  // race 2
  shmem_finalize();
  return 0;
}
