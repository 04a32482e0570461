/* races: always; class: remote; pes: 2 */
/* A strided put of stride 3 meets the owner's elements of stride 2. */
#include <shmem.h>

static int field[32];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    const int from[8] = {0};
    shmem_int_iput(field, from, 3, 1, 8, 1);  // race 1
  } else {
    for (int i = 1; i < 32; i += 2) field[i] = i;  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
