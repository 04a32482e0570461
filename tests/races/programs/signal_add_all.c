/* races: none; class: signal; pes: 4 */
/* Three PEs put to PE 0 and add one to its signal: at three all data are there. */
#include <shmem.h>

static uint64_t arrived;
static long data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long value = 10 * me;
  int wrong = 0;
  if (me > 0) {
    shmem_long_put_signal(&data[me], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
  } else {
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 3);
    wrong = data[1] + data[2] + data[3] != 60;
  }
  shmem_finalize();
  return wrong;
}
