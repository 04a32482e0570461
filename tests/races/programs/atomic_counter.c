/* races: none; class: atomic; pes: 4 */
/* All PEs count in one word of PE 0 by atomics. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 10; ++i) {
    shmem_long_atomic_inc(&counter, 0);
    (void)shmem_long_atomic_fetch_add(&counter, 2, 0);
  }
  shmem_barrier_all();
  const int wrong = me == 0 && counter != 30L * shmem_n_pes();
  shmem_finalize();
  return wrong;
}
