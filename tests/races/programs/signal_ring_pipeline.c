/* races: none; class: signal; pes: 3 */
/* A token with data goes around the ring; each PE forwards what it got. */
#include <shmem.h>
static long token[8];
static uint64_t arrived;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
  int wrong = 0;
  for (uint64_t lap = 1; lap <= 3; lap++) {
    if (me == 0) {
      if (lap == 1)
        for (int k = 0; k < 8; k++) token[k] = k;
      shmem_long_put_signal(token, token, 8, &arrived, lap, SHMEM_SIGNAL_SET, next);
      shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, lap);
    } else {
      shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, lap);
      for (int k = 0; k < 8; k++) token[k]++;
      shmem_long_put_signal(token, token, 8, &arrived, lap, SHMEM_SIGNAL_SET, next);
    }
  }
  if (me == 0) wrong = token[5] != 5 + 3 * (n - 1);
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
