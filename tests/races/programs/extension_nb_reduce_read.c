/* races: always; class: extension; pes: 2 */
/* The result of a reduction that does not block is read before its request is complete. */
#include <shmem.h>
#include <shmemx.h>

static double mine;
static double sum;

int main(void) {
  shmem_init();
  shmemx_request_t request;
  mine = shmem_my_pe() + 1;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &sum, &mine, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM, &request);  // race 1
  const double early = sum;                                                                    // race 2
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return early > 3;
}
