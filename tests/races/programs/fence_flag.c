/* races: none; class: fence; pes: 2 */
/* shmem_fence orders the data before the flag, and PE 1 waits for the flag. */
#include <shmem.h>

static long data[4];
static int flag;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    const long values[4] = {1, 2, 3, 4};
    shmem_long_put(data, values, 4, 1);
    shmem_fence();
    shmem_int_atomic_set(&flag, 1, 1);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    wrong = data[3] != 4;
  }
  shmem_finalize();
  return wrong;
}
