/* races: none; class: remote; pes: 2 */
/* PE 0 gets every fourth element from PE 1, which stores to the elements between them. */
#include <shmem.h>

static float array[16];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  float column[4] = {1, 1, 1, 1};
  if (me == 0) shmem_float_iget(column, array, 1, 4, 4, 1);
  for (int i = 0; me == 1 && i < 16; ++i)
    if (i % 4 != 0) array[i] = 1;
  shmem_barrier_all();
  const int wrong = me == 0 && column[3] != 0;
  shmem_finalize();
  return wrong;
}
