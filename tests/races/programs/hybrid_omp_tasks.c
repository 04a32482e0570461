/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* Tasks fill the two parts of the source; taskwait stands before the put. */
#include <omp.h>
#include <shmem.h>

static long source[2], dest[2];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    source[0] = 3;
#pragma omp task
    source[1] = 4;
#pragma omp taskwait
    shmem_long_put(dest, source, 2, 1 - shmem_my_pe());
  }
  shmem_barrier_all();
  const int wrong = dest[0] != 3 || dest[1] != 4;
  shmem_finalize();
  return wrong;
}
