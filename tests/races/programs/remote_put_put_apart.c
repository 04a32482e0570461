/* races: none; class: remote; pes: 3 */
/* PE 0 and PE 1 put to two neighbouring words of PE 2 between two barriers. */
#include <shmem.h>

static long words[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long value = me + 1;
  shmem_barrier_all();
  if (me < 2) shmem_long_put(&words[me], &value, 1, 2);
  shmem_barrier_all();
  const int wrong = me == 2 && (words[0] != 1 || words[1] != 2);
  shmem_finalize();
  return wrong;
}
