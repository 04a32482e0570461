/* races: always; class: wait; pes: 2 */
/* PE 1 asks once by shmem_test and ignores the answer, which is no: PE 0 starts only after PE 1 has asked. */
#include <shmem.h>

static int flag;
static int go;
static int data;

int main(void) {
  shmem_init();
  int seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_int_p(&data, 5, 1);  // race 1
    shmem_fence();
    shmem_int_atomic_set(&flag, 1, 1);
  } else {
    (void)shmem_int_test(&flag, SHMEM_CMP_EQ, 1);
    shmem_int_atomic_set(&go, 1, 0);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
