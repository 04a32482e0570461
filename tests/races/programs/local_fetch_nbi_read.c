/* races: always; class: local; pes: 2 */
/* The old value of a non-blocking fetching atomic is read before shmem_quiet. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  long old = 0;
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_atomic_fetch_add_nbi(&old, &counter, 1, 1);  // race 1
    seen = old;                                             // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return seen < 0;
}
