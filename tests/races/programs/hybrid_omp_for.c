/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* The threads fill the source in a loop whose end is a barrier, then the main thread puts it. */
#include <omp.h>
#include <shmem.h>

static int source[64], dest[64];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 64; ++i) source[i] = i;
#pragma omp master
    shmem_int_put(dest, source, 64, 1 - shmem_my_pe());
  }
  shmem_barrier_all();
  const int wrong = dest[63] != 63;
  shmem_finalize();
  return wrong;
}
