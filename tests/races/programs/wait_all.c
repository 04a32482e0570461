/* races: none; class: wait; pes: 4 */
/* PE 0 waits for the flags of all other PEs and reads the data of all. */
#include <shmem.h>

static int flags[4] = {1, 0, 0, 0};
static int data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me > 0) {
    shmem_int_p(&data[me], 10 * me, 0);
    shmem_fence();
    shmem_int_atomic_set(&flags[me], 1, 0);
  } else {
    shmem_int_wait_until_all(flags, 4, NULL, SHMEM_CMP_EQ, 1);
    wrong = data[1] + data[2] + data[3] != 60;
  }
  shmem_finalize();
  return wrong;
}
