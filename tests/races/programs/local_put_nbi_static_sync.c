/* races: always; class: local; pes: 2 */
/* The source of a non-blocking put is a static array. shmem_sync_all synchronises, but completes no put. */
#include <shmem.h>

static double source[4] = {1, 2, 3, 4};
static double dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_double_put_nbi(dest, source, 4, 1);  // race 1
  shmem_sync_all();
  if (me == 0) source[0] = -1;  // race 2
  shmem_finalize();
  return 0;
}
