/* races: always; class: extension; pes: 2 */
/* A block of an alltoallv that does not block is read before it is complete. */
#include <shmem.h>
#include <shmemx.h>

static long out[3];
static long in[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const size_t n[2] = {sizeof(long), 2 * sizeof(long)};
  const size_t each[2] = {n[me], n[me]};
  shmemx_request_t r;
  out[me] = 5;
  shmemx_alltoallv_nb(SHMEM_TEAM_WORLD, in, sizeof in, each, NULL, out, n, NULL, NULL, &r);  // race 1
  const long early = in[me];                                                                 // race 2
  shmemx_wait(&r, NULL);
  shmem_finalize();
  return early > 5;
}
