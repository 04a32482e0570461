/* races: always; class: hybrid; pes: 2; flags: -fopenmp */
/* nowait takes the barrier from the end of the loop: the main thread puts what the other one still fills. */
#include <omp.h>
#include <shmem.h>

static int source[64], dest[64];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; ++i) source[i] = i;  // race 1
#pragma omp master
    shmem_int_put(dest, source, 64, 1 - shmem_my_pe());  // race 2
  }
  shmem_finalize();
  return 0;
}
