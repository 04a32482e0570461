/* races: none; class: extension; pes: 2 */
/* Another PE puts to the dest of a collective that its owner has completed before a barrier. */
#include <shmem.h>
#include <shmemx.h>

static long mine;
static long all[2];

int main(void) {
  shmem_init();
  shmemx_request_t request;
  mine = shmem_my_pe();
  shmemx_fcollect_nb(SHMEM_TEAM_WORLD, all, &mine, sizeof mine, &request);
  shmemx_wait(&request, NULL);
  int wrong = all[1] != 1;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_long_p(&all[1], 9, 1);
  shmem_barrier_all();
  if (shmem_my_pe() == 1) wrong |= all[1] != 9;
  shmem_finalize();
  return wrong;
}
