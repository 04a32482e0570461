/* races: none; class: atomic; pes: 2 */
/* PE 0 reads its counter by an atomic on itself while PE 1 counts in it. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 1)
    shmem_long_atomic_inc(&counter, 0);
  else
    seen = shmem_long_atomic_fetch(&counter, 0);
  shmem_barrier_all();
  const int wrong = seen > 1 || (shmem_my_pe() == 0 && counter != 1);
  shmem_finalize();
  return wrong;
}
