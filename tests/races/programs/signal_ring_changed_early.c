/* races: always; class: signal; pes: 3 */
/* PE 1 changes the token after it has passed it on, while PE 0's next put may come. */
#include <shmem.h>
static long token[8];
static uint64_t arrived;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long other[8] = {0};
  if (me == 0) {
    shmem_long_put_signal(token, other, 8, &arrived, 1, SHMEM_SIGNAL_SET, 1);
    shmem_long_put(token, other, 8, 1);  // race 1
    shmem_quiet();
  } else if (me == 1) {
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    shmem_long_put_signal(token, token, 8, &arrived, 1, SHMEM_SIGNAL_SET, 2);
    token[2]++;  // race 2
  } else {
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
