/* races: always; class: quiet; pes: 3 */
/* shmem_pe_quiet for PE 2 does not complete the put to PE 1. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    const int target = 2;
    shmem_long_p(&word, 5, 1);  // race 1
    shmem_pe_quiet(&target, 1);
  }
  shmem_sync_all();
  long seen = 0;
  if (me == 1) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
