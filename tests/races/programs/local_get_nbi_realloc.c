/* races: always; class: local; pes: 2 */
/* realloc of the dest of a get that is not complete. */
#include <shmem.h>
#include <stdlib.h>
static long source[1000];
int main(void) {
  shmem_init();
  long* buf = malloc(1000 * sizeof *buf);
  shmem_long_get_nbi(buf, source, 1000, 1 - shmem_my_pe());  // race 1
  buf = realloc(buf, 100000 * sizeof *buf);                  // race 2
  shmem_quiet();
  free(buf);
  shmem_finalize();
  return 0;
}
