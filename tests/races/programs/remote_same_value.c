/* races: always; class: remote; pes: 3 */
/* All PEs put the same value to a flag of PE 0. Equal values make it no less a race. */
#include <shmem.h>

static int found;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  shmem_int_p(&found, 1, 0);  // race 1 and 2
  shmem_barrier_all();
  const int wrong = found > 1;
  shmem_finalize();
  return wrong;
}
