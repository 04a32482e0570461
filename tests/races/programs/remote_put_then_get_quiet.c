/* races: none; class: remote; pes: 2 */
/* A PE gets back what it has put, after shmem_quiet. */
#include <shmem.h>

static long array[4];

int main(void) {
  shmem_init();
  long back[4] = {1, 2, 3, 4};
  if (shmem_my_pe() == 0) {
    const long values[4] = {1, 2, 3, 4};
    shmem_long_put(array, values, 4, 1);
    shmem_quiet();
    shmem_long_get(back, array, 4, 1);
  }
  const int wrong = back[3] != 4;
  shmem_finalize();
  return wrong;
}
