/* races: always; class: barrier; pes: 2 */
/* PE 0 stores after the synchronisation and PE 1 gets: the barrier in front orders nothing between them. */
#include <shmem.h>

static long array[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  long copy[4] = {0};
  if (me == 0)
    array[2] = 6;  // race 1
  else
    shmem_long_get(copy, array, 4, 0);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
