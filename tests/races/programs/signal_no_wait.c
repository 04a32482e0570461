/* races: always; class: signal; pes: 2 */
/* PE 1 reads the data of a put with signal without waiting for the signal. */
#include <shmem.h>

static uint64_t ready;
static double data[16];

int main(void) {
  shmem_init();
  double values[16] = {1};
  double seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_double_put_signal(data, values, 16, &ready, 1, SHMEM_SIGNAL_SET, 1);  // race 1
  } else {
    seen = data[15];  // race 2
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  }
  shmem_finalize();
  return seen < 0;
}
