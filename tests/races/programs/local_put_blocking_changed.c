/* races: none; class: local; pes: 2 */
/* A blocking put returns when its source may be changed, whether it has been delivered or not. */
#include <shmem.h>

static long dest[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me == 0) {
    shmem_long_put(dest, source, 8, 1);
    source[7] = 80;
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[7] != 8;
  shmem_finalize();
  return wrong;
}
