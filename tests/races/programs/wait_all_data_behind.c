/* races: always; class: wait; pes: 2 */
/* The data are put behind the flags for which wait_until_all waits. */
#include <shmem.h>

static int flags[2];
static int data;

int main(void) {
  shmem_init();
  int seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_p(&flags[0], 1, 1);
    shmem_int_p(&flags[1], 1, 1);
    shmem_int_p(&data, 3, 1);  // race 1
    shmem_quiet();
  } else {
    shmem_int_wait_until_all(flags, 2, NULL, SHMEM_CMP_EQ, 1);
    seen = data;  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return seen > 3;
}
