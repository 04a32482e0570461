/* races: none; class: remote; pes: 2 */
/* A strided put leaves gaps, which the owner uses meanwhile. */
#include <shmem.h>

static int field[32];

int main(void) {
  shmem_init();
  int sum = 0;
  if (shmem_my_pe() == 0) {
    const int from[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    shmem_int_iput(field, from, 2, 1, 16, 1);
  } else {
    for (int i = 1; i < 32; i += 2) field[i] = i, sum += field[i];
  }
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 1 && (field[30] != 1 || field[31] != 31 || sum != 256);
  shmem_finalize();
  return wrong;
}
