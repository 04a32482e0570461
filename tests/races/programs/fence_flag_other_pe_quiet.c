/* races: none; class: fence; pes: 3 */
/* The data go to PE 2, the flag to PE 1, and shmem_quiet stands between: then the data are visible to all PEs. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me == 0) {
    shmem_long_p(&data, 5, 2);
    shmem_quiet();
    shmem_long_atomic_set(&flag, 1, 1);
  }
  if (me == 1) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    wrong = shmem_long_g(&data, 2) != 5;
  }
  shmem_finalize();
  return wrong;
}
