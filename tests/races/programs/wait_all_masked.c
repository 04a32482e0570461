/* races: always; class: wait; pes: 3 */
/* The status array takes the flag of PE 2 out of the wait, and its data are read all the same. */
#include <shmem.h>

static int flags[3];
static int data[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sum = 0;
  if (me > 0) {
    shmem_int_p(&data[me], 10 * me, 0);  // race 1
    shmem_fence();
    shmem_int_atomic_set(&flags[me], 1, 0);
  } else {
    const int left_out[3] = {1, 0, 1};
    shmem_int_wait_until_all(flags, 3, left_out, SHMEM_CMP_EQ, 1);
    sum += data[1];
    sum += data[2];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
