/* races: always; class: local; pes: 2 */
/* The source of a non-blocking put with signal changes before shmem_quiet. */
#include <shmem.h>

static uint64_t ready;
static long dest[2];
static long source[2] = {1, 2};

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_long_put_signal_nbi(dest, source, 2, &ready, 1, SHMEM_SIGNAL_SET, 1);  // race 1
    source[1] = 3;                                                               // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
