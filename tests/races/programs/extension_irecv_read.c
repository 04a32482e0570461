/* races: always; class: extension; pes: 2 */
/* The memory of a receive is read while only a barrier says that the message must have come. */
#include <shmem.h>
#include <shmemx.h>

int main(void) {
  shmem_init();
  const int other = 1 - shmem_my_pe();
  long in = 0;
  shmemx_request_t request;
  shmemx_irecv(&in, sizeof in, other, 3, &request);  // race 1
  const long out = 1;
  shmemx_send(&out, sizeof out, other, 3);
  shmem_barrier_all();
  const long early = in;  // race 2
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return early > 1;
}
