/* races: always; class: signal; pes: 3 */
/* Two PEs send by put_signal to one place with SIGNAL_ADD: the receiver waits for both, but they race with each other.
 */
#include <shmem.h>

static uint64_t signal;
static long data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long from[4] = {me, me, me, me};
  if (me != 0)
    shmem_long_put_signal(data, from, 4, &signal, 1, SHMEM_SIGNAL_ADD, 0);  // race 1 and 2
  else
    shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 2);
  shmem_finalize();
  return 0;
}
