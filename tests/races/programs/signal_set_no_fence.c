/* races: always; class: signal; pes: 2 */
/* shmem_signal_set behind a put, without a fence. */
#include <shmem.h>

static uint64_t ready;
static long data;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&data, 9, 1);  // race 1
    shmem_signal_set(&ready, 1, 1);
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
