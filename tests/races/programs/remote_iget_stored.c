/* races: always; class: remote; pes: 2 */
/* PE 0 gets every fourth element from PE 1, which stores to one of them. */
#include <shmem.h>

static float array[16];

int main(void) {
  shmem_init();
  shmem_barrier_all();
  float column[4] = {0};
  if (shmem_my_pe() == 0)
    shmem_float_iget(column, array, 1, 4, 4, 1);  // race 1
  else
    array[12] = 1;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
