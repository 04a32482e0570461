/* races: none; class: local; pes: 2 */
/* The old value of a non-blocking fetching atomic is read after shmem_quiet. */
#include <shmem.h>

static long counter = 6;

int main(void) {
  shmem_init();
  long old = 6;
  if (shmem_my_pe() == 0) {
    shmem_long_atomic_fetch_add_nbi(&old, &counter, 1, 1);
    shmem_quiet();
  }
  const int wrong = old != 6;
  shmem_finalize();
  return wrong;
}
