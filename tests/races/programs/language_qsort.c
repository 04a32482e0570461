/* races: always; class: language; pes: 2 */
/* qsort moves elements of the symmetric array, and its callback reads them, while PE 0 puts to one of them. */
#include <shmem.h>
#include <stdlib.h>

static int array[4] = {4, 3, 2, 1};

static int compare(const void* left, const void* right) {
  const int a = *(const int*)left;   // race 2
  const int b = *(const int*)right;  // race 2
  return (a > b) - (a < b);
}

int main(void) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_int_p(&array[1], 9, 1);           // race 1
  if (shmem_my_pe() == 1) qsort(array, 4, sizeof(int), compare);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
