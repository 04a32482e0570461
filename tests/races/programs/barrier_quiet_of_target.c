/* races: always; class: barrier; pes: 2 */
/* The PE that owns the word calls shmem_quiet, not the PE that has put: quiet completes the caller's operations only.
 */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  if (me == 1) shmem_quiet();
  shmem_sync_all();
  long seen = 0;
  if (me == 1) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
