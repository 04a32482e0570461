/* races: always; class: wait; pes: 2 */
/* The flag counts the steps. PE 1 waits for any change and reads what belongs to the second step. */
#include <shmem.h>

static long header, data;
static long step;
static long go;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&header, 1, 1);
    shmem_fence();
    shmem_long_atomic_set(&step, 1, 1);
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_p(&data, 2, 1);  // race 1
    shmem_fence();
    shmem_long_atomic_set(&step, 2, 1);
  } else {
    shmem_long_wait_until(&step, SHMEM_CMP_NE, 0);
    shmem_long_atomic_set(&go, 1, 0);
    seen += header;
    seen += data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
