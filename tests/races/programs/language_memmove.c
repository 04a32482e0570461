/* races: always; class: language; pes: 2 */
/* memmove shifts the array while PE 0 gets from it. */
#include <shmem.h>
#include <string.h>

static int array[50];

int main(void) {
  shmem_init();
  int copy[50] = {0};
  size_t bytes = 0;
  if (shmem_my_pe() == 0)
    shmem_int_get(copy, array, 50, 1);  // race 1
  else
    bytes = 49 * sizeof(int);
  if (bytes > 0) memmove(array, array + 1, bytes);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return copy[0] != 0;
}
