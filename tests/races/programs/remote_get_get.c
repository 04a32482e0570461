/* races: none; class: remote; pes: 3 */
/* PE 0 and PE 1 get the same words from PE 2, which reads them too. */
#include <shmem.h>

static long array[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 2) array[7] = 9;
  shmem_barrier_all();
  long mine[8] = {0};
  if (me == 2)
    mine[7] = array[7];
  else
    shmem_long_get(mine, array, 8, 2);
  shmem_finalize();
  return mine[7] != 9;
}
