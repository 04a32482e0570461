/* races: none; class: barrier; pes: 3 */
/* A stencil: each PE puts its border into its right neighbour's halo, and computes from the halo behind a barrier. */
#include <shmem.h>

static double row[10];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  for (int i = 1; i < 10; ++i) row[i] = me;
  if (me + 1 < pe_count) shmem_double_put(&row[0], &row[9], 1, me + 1);
  shmem_barrier_all();
  const int wrong = me > 0 && row[0] != me - 1;
  shmem_finalize();
  return wrong;
}
