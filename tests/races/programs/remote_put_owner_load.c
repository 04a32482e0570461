/* races: always; class: remote; pes: 2 */
/* PE 1 reads its array while PE 0 may still put to it: the barrier comes too late. */
#include <shmem.h>

static int array[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int values[4] = {1, 2, 3, 4};
  int seen = 0;
  if (me == 0)
    shmem_int_put(array, values, 4, 1);  // race 1
  else
    seen = array[2];  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen < 0;
}
