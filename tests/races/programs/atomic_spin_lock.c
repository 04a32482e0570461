/* races: none; class: atomic; pes: 3 */
/* A lock of compare-and-swap on PE 0 for a word of PE 1. The put is complete before the lock is released. */
#include <shmem.h>
#include <unistd.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 3; ++i) {
    while (shmem_long_atomic_compare_swap(&lock, 0, me + 1, 0) != 0) usleep(20);
    const long old = shmem_long_g(&balance, 1);
    shmem_long_p(&balance, old + 1, 1);
    shmem_quiet();
    shmem_long_atomic_set(&lock, 0, 0);
  }
  shmem_barrier_all();
  const int wrong = me == 1 && balance != 9;
  shmem_finalize();
  return wrong;
}
