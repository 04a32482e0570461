/* races: none; class: signal; pes: 2 */
/* Who has seen the signal of a put with signal has its data. */
#include <shmem.h>

static uint64_t ready;
static double data[16];

int main(void) {
  shmem_init();
  double values[16] = {1};
  values[15] = 16;
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_double_put_signal(data, values, 16, &ready, 1, SHMEM_SIGNAL_SET, 1);
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    wrong = data[15] != 16;
  }
  shmem_finalize();
  return wrong;
}
