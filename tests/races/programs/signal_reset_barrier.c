/* races: none; class: signal; pes: 2 */
/* PE 1 clears its signal word by a store, and a barrier stands before the next signal. */
#include <shmem.h>

static uint64_t ready;
static long data[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  for (long turn = 0; turn < 2; ++turn) {
    if (me == 0) {
      shmem_long_put_signal(&data[turn], &turn, 1, &ready, 1, SHMEM_SIGNAL_SET, 1);
    } else {
      shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
      wrong |= data[turn] != turn;
      ready = 0;
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return wrong;
}
