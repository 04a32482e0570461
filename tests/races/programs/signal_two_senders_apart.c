/* races: none; class: signal; pes: 3 */
/* Two PEs send by put_signal_nbi to places of their own, and add to one signal; the receiver waits for both. */
#include <shmem.h>

static uint64_t signal;
static long data[3][4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long from[4] = {me, me, me, me};
  int wrong = 0;
  if (me != 0) {
    shmem_long_put_signal_nbi(data[me], from, 4, &signal, 1, SHMEM_SIGNAL_ADD, 0);
    shmem_quiet();
  } else {
    shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 2);
    wrong = data[1][3] != 1 || data[2][0] != 2;
  }
  shmem_finalize();
  return wrong;
}
