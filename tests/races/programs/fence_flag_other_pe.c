/* races: always; class: fence; pes: 3 */
/* The data go to PE 2, the flag to PE 1: a fence orders deliveries to one PE, not to two. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 0) {
    shmem_long_p(&data, 5, 2);  // race 1
    shmem_fence();
    shmem_long_atomic_set(&flag, 1, 1);
  }
  if (me == 1) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    seen = shmem_long_g(&data, 2);  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
