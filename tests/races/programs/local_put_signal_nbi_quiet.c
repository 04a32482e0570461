/* races: none; class: local; pes: 2 */
/* The source of a non-blocking put with signal changes after shmem_quiet. */
#include <shmem.h>

static uint64_t ready;
static long dest[2];
static long source[2] = {1, 2};

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_put_signal_nbi(dest, source, 2, &ready, 1, SHMEM_SIGNAL_SET, 1);
    shmem_quiet();
    source[1] = 3;
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    wrong = dest[1] != 2;
  }
  shmem_finalize();
  return wrong;
}
