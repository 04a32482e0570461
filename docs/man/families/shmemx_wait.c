#include <shmemx.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int got = -1;
  shmemx_request_t requests[2];
  shmemx_irecv(&got, sizeof got, (me + n - 1) % n, 0, &requests[0]);
  shmemx_isend(&me, sizeof me, (me + 1) % n, 0, &requests[1]);
  shmemx_waitall(2, requests, NULL);
  const int wrong = got != (me + n - 1) % n || requests[0] != SHMEMX_REQUEST_NULL;
  shmem_finalize();
  return wrong;
}
