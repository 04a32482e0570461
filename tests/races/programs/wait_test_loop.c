/* races: none; class: wait; pes: 2 */
/* PE 1 reads when shmem_test has said that the flag is there. */
#include <shmem.h>
#include <unistd.h>

static int flag;
static int data;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_p(&data, 5, 1);
    shmem_fence();
    shmem_int_atomic_set(&flag, 1, 1);
  } else {
    while (!shmem_int_test(&flag, SHMEM_CMP_EQ, 1)) usleep(50);
    wrong = data != 5;
  }
  shmem_finalize();
  return wrong;
}
