/* races: always; class: extension; pes: 2 */
/* Two collectives that are open write to one dest. */
#include <shmem.h>
#include <shmemx.h>

static int source[2][2];
static int dest[2];

int main(void) {
  shmem_init();
  shmemx_request_t requests[2];
  for (int i = 0; i < 2; ++i)
    shmemx_alltoall_nb(SHMEM_TEAM_WORLD, dest, source[i], sizeof(int), &requests[i]);  // race 1 and 2
  shmemx_waitall(2, requests, NULL);
  shmem_finalize();
  return 0;
}
