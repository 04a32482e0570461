/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* Tasks of two loops fill the source; the end of the first loop waits for them, taskwait for those of the second. */
#include <omp.h>
#include <shmem.h>

enum { kWords = 64 };
static long source[kWords], dest[kWords];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(4)
    for (int i = 0; i < kWords; ++i) source[i] = i;
    source[1] += 1;
#pragma omp taskloop grainsize(4) nogroup
    for (int i = 0; i < kWords; ++i) source[i] += 1;
#pragma omp taskwait
    shmem_long_put(dest, source, kWords, 1 - shmem_my_pe());
  }
  shmem_barrier_all();
  const int wrong = dest[1] != 3 || dest[63] != 64;
  shmem_finalize();
  return wrong;
}
