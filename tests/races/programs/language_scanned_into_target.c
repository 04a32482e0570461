/* races: always; class: language; pes: 2 */
/* sscanf stores into an array that a put of the other PE writes. */
#include <shmem.h>
#include <stdio.h>

static long numbers[4];

int main(void) {
  shmem_init();
  long ones[4] = {1, 1, 1, 1};
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_long_put(numbers, ones, 4, 1);  // race 1
  if (shmem_my_pe() == 1) sscanf("7 8", "%ld %ld", &numbers[0], &numbers[1]);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
