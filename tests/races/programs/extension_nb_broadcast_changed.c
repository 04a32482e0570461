/* races: always; class: extension; pes: 2 */
/* The root of a broadcast that does not block changes the source before it is complete. */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

static char source[64];
static char dest[64];

int main(void) {
  shmem_init();
  shmemx_request_t request;
  memset(source, 1, sizeof source);
  shmemx_broadcast_nb(SHMEM_TEAM_WORLD, dest, source, sizeof dest, 0, &request);  // race 1
  if (shmem_my_pe() == 0) memset(source, 2, sizeof source);                       // race 2
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return 0;
}
