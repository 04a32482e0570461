/* races: always; class: wait; pes: 3 */
/* PE 0 waits until the counter has counted all PEs, but nothing orders the data before the counts. */
#include <shmem.h>

static int arrived;
static int data[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sum = 0;
  if (me > 0) {
    shmem_int_p(&data[me], me, 0);  // race 1
    shmem_int_atomic_inc(&arrived, 0);
  } else {
    shmem_int_wait_until(&arrived, SHMEM_CMP_EQ, 2);
    for (int pe = 1; pe < 3; ++pe) sum += data[pe];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
