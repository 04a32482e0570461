/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* A reduction of a parallel with the task modifier: tasks add to it. */
#include <shmem.h>
static long in[64];
int main(void) {
  int p;
  long sum = 0;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &p);
  for (int i = 0; i < 64; ++i) in[i] = i;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  {
#pragma omp for
    for (int i = 0; i < 64; ++i) in[i] += 1;
#pragma omp single
    for (int k = 0; k < 4; ++k)
#pragma omp task in_reduction(+ : sum) firstprivate(k)
      for (int i = 0; i < 16; ++i) sum += in[16 * k + i];
  }
  shmem_finalize();
  return sum != 2080;
}
