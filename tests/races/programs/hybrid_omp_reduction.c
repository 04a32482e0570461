/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* Sums of threads by a reduction clause and by omp atomic, then a reduction over the PEs. */
#include <omp.h>
#include <shmem.h>

static long sum, total, count;

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
  long local = 0;
#pragma omp parallel for reduction(+ : local) num_threads(2)
  for (int i = 0; i < 100; ++i) {
    local += i;
#pragma omp atomic
    count += 1;
  }
  sum = local;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total, &sum, 1);
  const int wrong = total != 9900 || count != 100;
  shmem_finalize();
  return wrong;
}
