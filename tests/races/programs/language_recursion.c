/* races: always; class: language; pes: 2 */
/* A recursive sum over the array ends at the element to which PE 0 puts. */
#include <shmem.h>

static long array[16];

static long sum(const long* values, int count) {
  if (count == 0) return 0;
  const long first = values[0];  // race 2
  return first + sum(values + 1, count - 1);
}

int main(void) {
  shmem_init();
  long total = 0;
  if (shmem_my_pe() == 0)
    shmem_long_p(&array[15], 3, 1);  // race 1
  else
    total = sum(array, 16);
  shmem_barrier_all();
  shmem_finalize();
  return total < 0;
}
