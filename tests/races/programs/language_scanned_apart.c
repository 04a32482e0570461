/* races: none; class: language; pes: 2 */
/* sscanf stores into the elements that the put of the other PE does not write; skipped ones and those that do not convert are none. */
#include <shmem.h>
#include <stdio.h>

static long numbers[4];

int main(void) {
  shmem_init();
  long ones[2] = {1, 1};
  int more = 0, converted = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_long_put(numbers, ones, 2, 1);
  if (shmem_my_pe() == 1) converted = sscanf("5 7 8 x", "%*d %ld %ld %d %ld", &numbers[2], &numbers[3], &more, &numbers[0]);
  shmem_barrier_all();
  int wrong = shmem_my_pe() == 1 && (converted != 2 || numbers[0] != 1 || numbers[1] != 1 || numbers[2] != 7 || numbers[3] != 8);
  shmem_finalize();
  return wrong;
}
