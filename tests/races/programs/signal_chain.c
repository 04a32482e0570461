/* races: none; class: signal; pes: 4 */
/* A pipeline: each PE waits for the signal of the PE before it and sends the data on with a signal of its own. */
#include <shmem.h>

static uint64_t ready;
static long data[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0)
    for (int i = 0; i < 4; ++i) data[i] = i;
  else
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  if (me + 1 < shmem_n_pes()) shmem_long_put_signal(data, data, 4, &ready, 1, SHMEM_SIGNAL_SET, me + 1);
  const int wrong = data[3] != 3;
  shmem_finalize();
  return wrong;
}
