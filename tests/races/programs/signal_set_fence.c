/* races: none; class: signal; pes: 2 */
/* shmem_signal_set behind a put and a fence. */
#include <shmem.h>

static uint64_t ready;
static long data;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&data, 9, 1);
    shmem_fence();
    shmem_signal_set(&ready, 1, 1);
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    wrong = data != 9;
  }
  shmem_finalize();
  return wrong;
}
