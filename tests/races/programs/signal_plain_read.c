/* races: always; class: signal; pes: 2 */
/* The signal itself is read by a load: signals may be read by shmem_signal_fetch and the waits only. */
#include <shmem.h>

static uint64_t ready;
static int data;

int main(void) {
  shmem_init();
  const int value = 8;
  uint64_t seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0)
    shmem_int_put_signal(&data, &value, 1, &ready, 4, SHMEM_SIGNAL_SET, 1);  // race 1
  else
    seen = ready;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen > 4;
}
