/* races: always; class: hybrid; pes: 1; flags: -fopenmp */
/* The threads add to one symmetric word with nothing between them. */
#include <omp.h>
#include <shmem.h>

static long sum;

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
#pragma omp parallel num_threads(2)
  {
    sum += omp_get_thread_num();  // race 1 and 2
  }
  shmem_finalize();
  return 0;
}
