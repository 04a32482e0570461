/* races: always; class: atomic; pes: 2 */
/* Nothing orders the atomic add before the flag, and PE 1 reads the sum by a load. */
#include <shmem.h>

static long sum;
static long flag;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_atomic_add(&sum, 4, 1);  // race 1
    shmem_long_atomic_set(&flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    seen = sum;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
