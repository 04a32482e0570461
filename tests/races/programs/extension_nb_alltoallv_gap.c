/* races: none; class: extension; pes: 2 */
/* Between the blocks of an alltoallv lies memory that the program may use meanwhile. */
#include <shmem.h>
#include <shmemx.h>

static long source[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const size_t bytes[2] = {sizeof(long), sizeof(long)};
  const size_t displs[2] = {0, 3 * sizeof(long)};
  long dest[4] = {0};
  shmemx_request_t request;
  source[0] = source[1] = me + 5;
  shmemx_alltoallv_nb(SHMEM_TEAM_WORLD, dest, sizeof dest, bytes, displs, source, bytes, NULL, NULL, &request);
  dest[1] = 3;
  dest[2] = source[0];
  shmemx_waitall(1, &request, NULL);
  const int wrong = dest[0] != 5 || dest[1] != 3 || dest[3] != 6;
  source[0] = 0;
  shmem_finalize();
  return wrong;
}
