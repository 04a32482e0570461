/* races: none; class: hybrid; pes: 1; flags: -fopenmp */
/* Tasks with dependences, atomics and a lock of OpenMP. */
#include <omp.h>
#include <shmem.h>

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  long a = 0, b = 0, n = 0, m = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  {
#pragma omp single
    {
#pragma omp task depend(out : a)
      a = 1;
#pragma omp task depend(in : a) depend(out : b)
      b = a + 1;
#pragma omp task depend(in : b)
      a = b + 1;
    }
#pragma omp atomic
    ++n;
    omp_set_lock(&lock);
    ++m;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  shmem_finalize();
  return a != 3 || n != 3 || m != 3;
}
