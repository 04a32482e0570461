/* races: always; class: extension; pes: 2 */
/* Another PE puts to the dest of a collective that is still open. */
#include <shmem.h>
#include <shmemx.h>

static long mine;
static long all[2];

int main(void) {
  shmem_init();
  shmemx_request_t request;
  shmemx_fcollect_nb(SHMEM_TEAM_WORLD, all, &mine, sizeof mine, &request);  // race 1
  shmem_sync_all();
  if (shmem_my_pe() == 0) shmem_long_p(&all[1], 9, 1);  // race 2
  shmem_barrier_all();
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return 0;
}
