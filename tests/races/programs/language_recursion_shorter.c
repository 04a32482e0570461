/* races: none; class: language; pes: 2 */
/* A recursive sum over the array ends before the element to which PE 0 puts. */
#include <shmem.h>

static long array[16];

static long sum(const long* values, int count) { return count == 0 ? 0 : values[0] + sum(values + 1, count - 1); }

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long total = 0;
  if (me == 0)
    shmem_long_p(&array[15], 3, 1);
  else
    total = sum(array, 15);
  shmem_barrier_all();
  const int wrong = total != 0 || (me == 1 && array[15] != 3);
  shmem_finalize();
  return wrong;
}
