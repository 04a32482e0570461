/* races: none; class: signal; pes: 2 */
/* Two puts with a signal each, and each datum is read behind the wait for its own signal. */
#include <shmem.h>

static uint64_t ready[2];
static long data[2];

int main(void) {
  shmem_init();
  const long values[2] = {3, 4};
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 2; ++i) shmem_long_put_signal(&data[i], &values[i], 1, &ready[i], 1, SHMEM_SIGNAL_SET, 1);
  } else {
    for (int i = 1; i >= 0; --i) {
      shmem_signal_wait_until(&ready[i], SHMEM_CMP_EQ, 1);
      wrong |= data[i] != 3 + i;
    }
  }
  shmem_finalize();
  return wrong;
}
