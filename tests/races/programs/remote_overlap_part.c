/* races: always; class: remote; pes: 3 */
/* Two puts to PE 2 overlap in one element: 0 to 4 and 4 to 8. */
#include <shmem.h>

static short array[9];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const short values[5] = {1, 2, 3, 4, 5};
  if (me == 0) shmem_short_put(array, values, 5, 2);      // race 1
  if (me == 1) shmem_short_put(array + 4, values, 5, 2);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
