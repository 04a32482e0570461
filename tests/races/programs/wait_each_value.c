/* races: none; class: wait; pes: 2 */
/* The flag counts the steps, and PE 1 reads what belongs to a step when it has waited for that step. */
#include <shmem.h>

static long header, data;
static long step;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&header, 1, 1);
    shmem_fence();
    shmem_long_atomic_set(&step, 1, 1);
    shmem_long_p(&data, 2, 1);
    shmem_fence();
    shmem_long_atomic_set(&step, 2, 1);
  } else {
    shmem_long_wait_until(&step, SHMEM_CMP_GE, 1);
    wrong |= header != 1;
    shmem_long_wait_until(&step, SHMEM_CMP_EQ, 2);
    wrong |= data != 2;
  }
  shmem_finalize();
  return wrong;
}
