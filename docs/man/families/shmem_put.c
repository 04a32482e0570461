#include <shmem.h>

int main(void) {
  static double halo[4];
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const double edge[4] = {me, me + 0.25, me + 0.5, me + 0.75};
  shmem_double_put(halo, edge, 4, (me + 1) % n); /* or shmem_put(...) in C11 and C++ */
  shmem_barrier_all();                           /* completes the puts of all PEs */
  const int wrong = halo[3] != (me + n - 1) % n + 0.75;
  shmem_finalize();
  return wrong;
}
