/* races: none; class: local; pes: 2 */
/* The source of a non-blocking put, an array on the stack, changes after shmem_quiet. */
#include <shmem.h>

static long dest[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me == 0) {
    shmem_long_put_nbi(dest, source, 8, 1);
    shmem_quiet();
    source[3] = 40;
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[3] != 4;
  shmem_finalize();
  return wrong;
}
