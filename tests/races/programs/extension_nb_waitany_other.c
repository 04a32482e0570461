/* races: always; class: extension; pes: 2 */
/* shmemx_waitany has completed one of two collectives, and the dest of the other one is used. */
#include <shmem.h>
#include <shmemx.h>

static long mine[2];
static long all[2][2];

int main(void) {
  shmem_init();
  shmemx_request_t requests[2];
  size_t index = 0;
  mine[0] = mine[1] = shmem_my_pe();
  for (int i = 0; i < 2; ++i)
    shmemx_fcollect_nb(SHMEM_TEAM_WORLD, all[i], &mine[i], sizeof(long), &requests[i]);  // race 1
  shmemx_waitany(2, requests, &index, NULL);
  const long early = all[1 - index][0];  // race 2
  shmemx_waitany(2, requests, &index, NULL);
  shmem_finalize();
  return early > 1;
}
