/* races: none; class: remote; pes: 3 */
/* All PEs set a flag of PE 0 to the same value by atomics. */
#include <shmem.h>

static int found;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  shmem_int_atomic_set(&found, 1, 0);
  shmem_barrier_all();
  const int wrong = me == 0 && found != 1;
  shmem_finalize();
  return wrong;
}
