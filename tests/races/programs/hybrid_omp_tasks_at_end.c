/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* A chain of tasks by dependences, run as the region ends; the last one puts, and a barrier of all PEs follows. */
#include <shmem.h>
static long stage[4], dest;
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &p);
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(inout : stage) firstprivate(i)
      stage[i] = i == 0 ? 1 : 2 * stage[i - 1];
    }
#pragma omp task depend(in : stage)
    shmem_long_put(&dest, &stage[3], 1, 1 - shmem_my_pe());
  }
  shmem_barrier_all();
  int bad = dest != 8;
  shmem_finalize();
  return bad;
}
