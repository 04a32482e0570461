#include <shmemx.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const double part = me + 0.5;
  double sum = 0;
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &sum, &part, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM, &request);
  double own = 0;
  for (int i = 1; i <= 1000; ++i) own += 1.0 / i; /* computes meanwhile */
  shmemx_wait(&request, NULL);
  const int wrong = sum != n * n / 2.0 || own < 7;
  shmem_finalize();
  return wrong;
}
