/* races: always; class: remote; pes: 2 */
/* A PE gets back what it has just put: a get does not wait for earlier puts. */
#include <shmem.h>

static long array[4];

int main(void) {
  shmem_init();
  long back[4] = {0};
  if (shmem_my_pe() == 0) {
    const long values[4] = {1, 2, 3, 4};
    shmem_long_put(array, values, 4, 1);  // race 1
    shmem_long_get(back, array, 4, 1);    // race 2
  }
  shmem_finalize();
  return back[0] < 0;
}
