/* races: always; class: hybrid; pes: 2; flags: -fopenmp */
/* All threads store to one word between two barriers of the region. */
#include <omp.h>
#include <shmem.h>
long word;
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &p);
#pragma omp parallel num_threads(3)
  {
#pragma omp barrier
    word = omp_get_thread_num();  // race 1 and 2
#pragma omp barrier
  }
  shmem_finalize();
  return 0;
}
