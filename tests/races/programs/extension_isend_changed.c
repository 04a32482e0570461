/* races: always; class: extension; pes: 2 */
/* The memory of a send that does not block is changed before its request is complete. */
#include <shmem.h>
#include <shmemx.h>

int main(void) {
  shmem_init();
  const int other = 1 - shmem_my_pe();
  long out = 1;
  long in = 0;
  shmemx_request_t request;
  shmemx_isend(&out, sizeof out, other, 3, &request);  // race 1
  out = 2;                                             // race 2
  shmemx_recv(&in, sizeof in, other, 3, NULL);
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return in != 1 && in != 2;
}
