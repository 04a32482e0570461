/* races: always; class: barrier; pes: 2 */
/* shmem_sync_all completes no put: PE 1 may read the word before the value is there. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_p(&word, 5, 1);  // race 1
  shmem_sync_all();
  long seen = 0;
  if (me == 1) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
