/* races: always; class: signal; pes: 2 */
/* Two puts with a signal each. PE 1 waits for the first signal and reads the data of the second put. */
#include <shmem.h>

static uint64_t ready[2];
static long data[2];

int main(void) {
  shmem_init();
  const long values[2] = {3, 4};
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_put_signal(&data[0], &values[0], 1, &ready[0], 1, SHMEM_SIGNAL_SET, 1);
    shmem_long_put_signal(&data[1], &values[1], 1, &ready[1], 1, SHMEM_SIGNAL_SET, 1);  // race 1
  } else {
    shmem_signal_wait_until(&ready[0], SHMEM_CMP_EQ, 1);
    seen = data[1];  // race 2
    shmem_signal_wait_until(&ready[1], SHMEM_CMP_EQ, 1);
  }
  shmem_finalize();
  return seen < 0;
}
