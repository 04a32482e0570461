/* races: always; class: signal; pes: 2 */
/* PE 1 lets PE 0 signal again before it clears its signal word by a store. */
#include <shmem.h>

static uint64_t ready;
static uint64_t go;
static long data;

int main(void) {
  shmem_init();
  const long value = 1;
  if (shmem_my_pe() == 0) {
    shmem_signal_set(&ready, 1, 1);
    shmem_signal_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_put_signal(&data, &value, 1, &ready, 2, SHMEM_SIGNAL_SET, 1);  // race 1
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    shmem_signal_set(&go, 1, 0);
    ready = 0;  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
