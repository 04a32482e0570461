/* races: always; class: wait; pes: 3 */
/* PE 0 takes the number that wait_until_some returns for all. PE 2 starts only after PE 0 has waited. */
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
    size_t indices[3];
    const size_t found = shmem_long_wait_until_some(flags, 3, indices, NULL, SHMEM_CMP_EQ, 1);
    shmem_long_atomic_set(&go, 1, 2);
    if (found > 0) sum += data[2];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
