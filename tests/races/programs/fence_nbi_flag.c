/* races: none; class: fence; pes: 2 */
/* shmem_fence orders non-blocking puts too. */
#include <shmem.h>

static int data[8];
static long flag;

int main(void) {
  shmem_init();
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_put_nbi(data, values, 8, 1);
    shmem_fence();
    shmem_long_atomic_inc(&flag, 1);
    shmem_quiet();
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_GE, 1);
    for (int i = 0; i < 8; ++i) wrong |= data[i] != i + 1;
  }
  shmem_finalize();
  return wrong;
}
