/* races: none; class: barrier; pes: 2 */
/* shmem_quiet completes the put, and shmem_sync_all tells PE 1. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_long_p(&word, 5, 1);
    shmem_quiet();
  }
  shmem_sync_all();
  const int wrong = me == 1 && word != 5;
  shmem_finalize();
  return wrong;
}
