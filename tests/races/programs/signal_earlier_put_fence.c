/* races: none; class: signal; pes: 2 */
/* A fence orders the earlier put before the put with signal. */
#include <shmem.h>

static uint64_t ready;
static long earlier;
static long data;

int main(void) {
  shmem_init();
  const long value = 2;
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&earlier, 1, 1);
    shmem_fence();
    shmem_long_put_signal(&data, &value, 1, &ready, 1, SHMEM_SIGNAL_SET, 1);
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    wrong = data + earlier != 3;
  }
  shmem_finalize();
  return wrong;
}
