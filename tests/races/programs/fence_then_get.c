/* races: always; class: fence; pes: 2 */
/* shmem_fence orders puts among each other, not a put before a get of the same words. */
#include <shmem.h>

static int array[4];

int main(void) {
  shmem_init();
  int back[4] = {0};
  if (shmem_my_pe() == 0) {
    const int values[4] = {1, 2, 3, 4};
    shmem_int_put(array, values, 4, 1);  // race 1
    shmem_fence();
    shmem_int_get(back, array, 4, 1);  // race 2
  }
  shmem_finalize();
  return back[0] < 0;
}
