/* races: none; class: atomic; pes: 2 */
/* PE 0 clears its counter by a store, and a barrier stands before the atomics. */
#include <shmem.h>

static unsigned counter = 7;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) counter = 0;
  shmem_barrier_all();
  (void)shmem_uint_atomic_fetch_inc(&counter, 0);
  shmem_barrier_all();
  const int wrong = me == 0 && counter != 2;
  shmem_finalize();
  return wrong;
}
