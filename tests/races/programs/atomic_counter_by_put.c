/* races: always; class: atomic; pes: 2 */
/* Both PEs count in one word of PE 0 by a get and a put: counts are lost. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  const long old = shmem_long_g(&counter, 0);  // race 1
  shmem_long_p(&counter, old + 1, 0);          // race 2
  shmem_barrier_all();
  const int wrong = counter > 2;
  shmem_finalize();
  return wrong;
}
