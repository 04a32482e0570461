/* races: always; class: memory; pes: 2 */
/* The dest of a nonblocking get is freed and given out again before quiet. */
#include <shmem.h>
#include <stdlib.h>

static long source[32];

int main(void) {
  shmem_init();
  long* const a = malloc(sizeof source);
  shmem_long_get_nbi(a, source, 32, 1 - shmem_my_pe());  // race 1
  free(a);                                               // race 2
  shmem_quiet();
  shmem_finalize();
  return 0;
}
