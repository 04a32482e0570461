/* races: always; class: remote; pes: 3 */
/* PE 0 and PE 1 put to one word of PE 2 between two barriers. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long value = me + 1;
  shmem_barrier_all();
  if (me < 2) shmem_long_put(&word, &value, 1, 2);  // race 1 and 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
