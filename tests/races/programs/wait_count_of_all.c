/* races: none; class: wait; pes: 4 */
/* PE 0 waits until the counter has counted all PEs: that tells of the data of each. */
#include <shmem.h>

static int arrived;
static int data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me > 0) {
    shmem_int_p(&data[me], me, 0);
    shmem_fence();
    shmem_int_atomic_inc(&arrived, 0);
  } else {
    shmem_int_wait_until(&arrived, SHMEM_CMP_EQ, 3);
    wrong = data[1] + data[2] + data[3] != 6;
  }
  shmem_finalize();
  return wrong;
}
