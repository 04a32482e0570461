/* races: always; class: fence; pes: 2 */
/* The fence stands behind the flag instead of before it. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&data, 5, 1);  // race 1
    shmem_long_atomic_set(&flag, 1, 1);
    shmem_fence();
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
