/* races: always; class: wait; pes: 2 */
/* The flag is waited for with the value of the first step, and the data of the second step are read. */
#include <shmem.h>

static long flags[2];
static long go;
static long data[2];

int main(void) {
  shmem_init();
  long sum = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&data[0], 5, 1);
    shmem_fence();
    shmem_long_atomic_set(&flags[0], 1, 1);
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_p(&data[1], 6, 1);  // race 1
    shmem_fence();
    shmem_long_atomic_set(&flags[0], 2, 1);
  } else {
    const long values[2] = {1, 0};
    shmem_long_wait_until_all_vector(flags, 2, NULL, SHMEM_CMP_GE, values);
    shmem_long_atomic_set(&go, 1, 0);
    sum += data[0];
    sum += data[1];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
