/* races: none; class: local; pes: 3 */
/* A put sends on what a non-blocking get has delivered: shmem_quiet stands between them. */
#include <shmem.h>

static long source[4] = {1, 2, 3, 4};
static long dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long buffer[4] = {0};
  if (me == 0) {
    shmem_long_get_nbi(buffer, source, 4, 1);
    shmem_quiet();
    shmem_long_put(dest, buffer, 4, 2);
  }
  shmem_barrier_all();
  const int wrong = me == 2 && dest[3] != 4;
  shmem_finalize();
  return wrong;
}
