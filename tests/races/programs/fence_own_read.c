/* races: always; class: fence; pes: 2 */
/* A put to the own PE, read by a load behind shmem_fence: the put is ordered, but not complete. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_long_p(&word, 3, me);  // race 1
  shmem_fence();
  const long seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
