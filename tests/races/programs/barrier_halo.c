/* races: always; class: barrier; pes: 3 */
/* A stencil: each PE puts its border into its right neighbour's halo and computes from the halo without a barrier. */
#include <shmem.h>

static double row[10];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  for (int i = 1; i < 10; ++i) row[i] = me;
  if (me + 1 < pe_count) shmem_double_put(&row[0], &row[9], 1, me + 1);  // race 1
  double sum = 0;
  sum += row[0];  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return sum < 0;
}
