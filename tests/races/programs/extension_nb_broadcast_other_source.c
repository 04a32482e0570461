/* races: none; class: extension; pes: 2 */
/* A member that is not the root may change its source, which a broadcast does not use. The root reads its own. */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

static char source[64];
static char dest[64];

int main(void) {
  shmem_init();
  shmemx_request_t request;
  memset(source, 1, sizeof source);
  shmemx_broadcast_nb(SHMEM_TEAM_WORLD, dest, source, sizeof dest, 0, &request);
  int wrong = source[3] != 1;
  if (shmem_my_pe() == 1) memset(source, 2, sizeof source);
  shmemx_wait(&request, NULL);
  wrong |= dest[63] != 1;
  shmem_finalize();
  return wrong;
}
