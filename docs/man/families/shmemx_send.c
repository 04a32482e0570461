#include <shmemx.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int got = -1;
  shmemx_status_t status;
  shmemx_sendrecv(&me, sizeof me, (me + 1) % n, 7, &got, sizeof got, SHMEMX_ANY_SOURCE, 7, &status);
  const int wrong = got != (me + n - 1) % n || status.source_pe != got || status.bytes != sizeof got;
  shmem_finalize();
  return wrong;
}
