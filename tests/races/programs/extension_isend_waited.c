/* races: none; class: extension; pes: 2 */
/* What a send that does not block uses may be read at once, and changed after its completion. */
#include <shmem.h>
#include <shmemx.h>

int main(void) {
  shmem_init();
  const int other = 1 - shmem_my_pe();
  long out = 1;
  long in = 0;
  shmemx_request_t requests[2];
  shmemx_irecv(&in, sizeof in, other, 3, &requests[0]);
  shmemx_isend(&out, sizeof out, other, 3, &requests[1]);
  int wrong = out != 1;
  shmemx_waitall(2, requests, NULL);
  out = 2;
  wrong |= in != 1;
  shmem_finalize();
  return wrong;
}
