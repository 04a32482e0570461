/* races: none; class: language; pes: 2 */
/* qsort sorts a local copy while PE 0 puts to the next array. */
#include <shmem.h>
#include <stdlib.h>

static int arrays[2][4] = {{4, 3, 2, 1}, {0}};

static int compare(const void* left, const void* right) {
  const int a = *(const int*)left;
  const int b = *(const int*)right;
  return (a > b) - (a < b);
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sorted[4];
  if (me == 0) shmem_int_p(&arrays[1][0], 9, 1);
  for (int i = 0; i < 4; ++i) sorted[i] = arrays[0][i];
  qsort(sorted, 4, sizeof(int), compare);
  shmem_barrier_all();
  const int wrong = sorted[0] != 1 || (me == 1 && arrays[1][0] != 9);
  shmem_finalize();
  return wrong;
}
