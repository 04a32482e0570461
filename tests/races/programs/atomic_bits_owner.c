/* races: always; class: atomic; pes: 2 */
/* PE 1 sets a bit of PE 0's word by an atomic, PE 0 sets another bit by |=. */
#include <shmem.h>

static unsigned long bits;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 1)
    shmem_ulong_atomic_or(&bits, 2, 0);  // race 1
  else
    bits |= 1;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
