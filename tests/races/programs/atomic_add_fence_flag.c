/* races: none; class: atomic; pes: 2 */
/* A fence orders the atomic add before the flag, and PE 1 reads the sum by a load. */
#include <shmem.h>

static long sum;
static long flag;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_atomic_add(&sum, 4, 1);
    shmem_fence();
    shmem_long_atomic_set(&flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    wrong = sum != 4;
  }
  shmem_finalize();
  return wrong;
}
