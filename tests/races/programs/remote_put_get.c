/* races: always; class: remote; pes: 3 */
/* PE 0 puts to PE 2 while PE 1 gets from there. PE 2 itself does not take part. */
#include <shmem.h>

static long array[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long mine[8] = {0};
  shmem_barrier_all();
  if (me == 0) shmem_long_put(array, mine, 8, 2);  // race 1
  if (me == 1) shmem_long_get(mine, array, 8, 2);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
