/* races: always; class: atomic; pes: 2 */
/* PE 0 reads its counter by a load while PE 1 counts in it by atomics. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 1)
    shmem_long_atomic_inc(&counter, 0);  // race 1
  else
    seen = counter;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen < 0;
}
