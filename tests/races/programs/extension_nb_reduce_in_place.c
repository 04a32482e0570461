/* races: none; class: extension; pes: 3 */
/* A reduction that does not block has its source in its dest, which a test completes. */
#include <shmem.h>
#include <shmemx.h>

int main(void) {
  shmem_init();
  int32_t values[3] = {1, 2, 3};
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, values, values, 3, SHMEMX_INT32, SHMEMX_OP_SUM, &request);
  for (int is_complete = 0; !is_complete;) shmemx_test(&request, &is_complete, NULL);
  const int wrong = values[0] != 3 || values[2] != 9;
  values[1] = 0;
  shmem_finalize();
  return wrong;
}
