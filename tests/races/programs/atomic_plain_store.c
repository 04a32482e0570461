/* races: always; class: atomic; pes: 2 */
/* PE 0 clears its counter by a store while PE 1 counts in it. */
#include <shmem.h>

static unsigned counter;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  unsigned old = 0;
  if (shmem_my_pe() == 1)
    old = shmem_uint_atomic_fetch_inc(&counter, 0);  // race 1
  else
    counter = 0;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return old > 1;
}
