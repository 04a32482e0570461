/* races: always; class: local; pes: 3 */
/* A put sends on what a non-blocking get has not yet delivered. */
#include <shmem.h>

static long source[4];
static long dest[4];

int main(void) {
  shmem_init();
  long buffer[4] = {0};
  if (shmem_my_pe() == 0) {
    shmem_long_get_nbi(buffer, source, 4, 1);  // race 1
    shmem_long_put(dest, buffer, 4, 2);        // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
