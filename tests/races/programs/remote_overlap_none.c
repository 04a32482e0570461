/* races: none; class: remote; pes: 3 */
/* Two puts to PE 2 meet without overlap: elements 0 to 4 and 5 to 9, of two bytes each. */
#include <shmem.h>

static short array[10];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const short values[5] = {1, 2, 3, 4, 5};
  if (me == 0) shmem_short_put(array, values, 5, 2);
  if (me == 1) shmem_short_put(array + 5, values, 5, 2);
  shmem_barrier_all();
  const int wrong = me == 2 && (array[4] != 5 || array[5] != 1);
  shmem_finalize();
  return wrong;
}
