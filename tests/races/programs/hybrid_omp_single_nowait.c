/* races: always; class: hybrid; pes: 2; flags: -fopenmp */
/* One thread gets the data in a single construct without its barrier, and both threads read them. */
#include <omp.h>
#include <shmem.h>

static long source[2], result[2];

int main(void) {
  int provided;
  long seen = 0;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
#pragma omp parallel num_threads(2) reduction(+ : seen)
  {
#pragma omp single nowait
    shmem_long_get(result, source, 2, 1 - shmem_my_pe());  // race 1
    seen += result[1];                                     // race 2
  }
  shmem_finalize();
  return seen < 0;
}
