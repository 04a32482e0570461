/* races: none; class: wait; pes: 3 */
/* PE 0 reads when shmem_test_all has said that all flags are there. */
#include <shmem.h>
#include <unistd.h>

static int flags[2];
static int data[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me > 0) {
    shmem_int_p(&data[me - 1], 5, 0);
    shmem_fence();
    shmem_int_atomic_set(&flags[me - 1], 1, 0);
  } else {
    while (!shmem_int_test_all(flags, 2, NULL, SHMEM_CMP_EQ, 1)) usleep(50);
    wrong = data[0] + data[1] != 10;
  }
  shmem_finalize();
  return wrong;
}
