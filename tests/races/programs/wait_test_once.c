/* races: sometimes; class: wait; pes: 2 */
/* PE 1 asks once by shmem_test and reads whatever the answer is. Mostly PE 0 is later. */
#include <shmem.h>
#include <unistd.h>

static int flag;
static int data;

int main(void) {
  shmem_init();
  int seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    usleep(100000);
    shmem_int_p(&data, 5, 1);  // race 1
    shmem_fence();
    shmem_int_atomic_set(&flag, 1, 1);
  } else {
    (void)shmem_int_test(&flag, SHMEM_CMP_EQ, 1);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
