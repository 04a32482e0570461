/* races: always; class: local; pes: 2 */
/* The source of a non-blocking put, an array on the stack, changes before shmem_quiet. */
#include <shmem.h>

static long dest[8];

int main(void) {
  shmem_init();
  long source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (shmem_my_pe() == 0) {
    shmem_long_put_nbi(dest, source, 8, 1);  // race 1
    source[3] = 40;                          // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
