/* races: none; class: extension; pes: 2 */
/* Of two collectives, the dest is read whose index shmemx_waitany has found. */
#include <shmem.h>
#include <shmemx.h>

static long mine[2];
static long all[2][2];

int main(void) {
  shmem_init();
  shmemx_request_t requests[2];
  int wrong = 0;
  mine[0] = mine[1] = shmem_my_pe();
  for (int i = 0; i < 2; ++i) shmemx_fcollect_nb(SHMEM_TEAM_WORLD, all[i], &mine[i], sizeof(long), &requests[i]);
  for (int i = 0; i < 2; ++i) {
    size_t index = 0;
    shmemx_waitany(2, requests, &index, NULL);
    wrong |= all[index][1] != 1;
    all[index][1] = 7;
  }
  shmem_finalize();
  return wrong;
}
