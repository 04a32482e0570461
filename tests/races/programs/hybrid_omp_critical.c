/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* The threads add to one symmetric word in critical sections and behind the region it is put. */
#include <omp.h>
#include <shmem.h>

static long sum, dest;

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
#pragma omp parallel for num_threads(3)
  for (int i = 1; i <= 12; ++i) {
#pragma omp critical
    sum += i;
  }
  shmem_long_put(&dest, &sum, 1, 1 - shmem_my_pe());
  shmem_barrier_all();
  const int wrong = dest != 78;
  shmem_finalize();
  return wrong;
}
