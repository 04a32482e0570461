/* races: always; class: wait; pes: 3 */
/* wait_until_any tells of one flag, and PE 0 reads behind both. PE 2 starts only after PE 0 has waited. */
#include <shmem.h>

static long flags[3];
static long go;
static long data[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long sum = 0;
  if (me > 0) {
    if (me == 2) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_p(&data[me], 10, 0);  // race 1
    shmem_fence();
    shmem_long_atomic_set(&flags[me], 1, 0);
  } else {
    shmem_long_wait_until_any(flags, 3, NULL, SHMEM_CMP_EQ, 1);
    shmem_long_atomic_set(&go, 1, 2);
    sum += data[1];
    sum += data[2];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
