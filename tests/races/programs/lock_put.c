/* races: none; class: lock; pes: 3 */
/* All PEs change a word of PE 0 under one lock. shmem_clear_lock completes their puts. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 3; ++i) {
    shmem_set_lock(&lock);
    shmem_long_p(&balance, shmem_long_g(&balance, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  const int wrong = me == 0 && balance != 9;
  shmem_finalize();
  return wrong;
}
