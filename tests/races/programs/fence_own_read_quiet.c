/* races: none; class: fence; pes: 2 */
/* A put to the own PE, read by a load behind shmem_quiet. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_long_p(&word, 3, me);
  shmem_quiet();
  const int wrong = word != 3;
  shmem_finalize();
  return wrong;
}
