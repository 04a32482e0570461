/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* taskwait with a dependence waits for the task that stores. */
#include <shmem.h>
static long x, y;
int main(void) {
  int p, bad = 0;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &p);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 5;
#pragma omp taskwait depend(in : x)
    y = x;
    bad = y != 5;
  }
  shmem_finalize();
  return bad;
}
