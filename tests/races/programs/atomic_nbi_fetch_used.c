/* races: always; class: atomic; pes: 2 */
/* The result of a nonblocking fetch-and-add is used before quiet. */
#include <shmem.h>

static long counter;

int main(void) {
  shmem_init();
  long ticket = 0;
  shmem_long_atomic_fetch_add_nbi(&ticket, &counter, 1, 0);  // race 1
  const long mine = ticket + 1;                              // race 2
  shmem_quiet();
  shmem_finalize();
  return mine > 3;
}
