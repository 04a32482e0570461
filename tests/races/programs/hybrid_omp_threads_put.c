/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* Every thread puts its own part of the array; the barrier of all PEs stands behind the region. */
#include <omp.h>
#include <shmem.h>

static int source[4], dest[4];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 4; ++i) {
    source[i] = i + 1;
    shmem_int_put(&dest[i], &source[i], 1, 1 - shmem_my_pe());
  }
  shmem_barrier_all();
  const int wrong = dest[0] != 1 || dest[3] != 4;
  shmem_finalize();
  return wrong;
}
