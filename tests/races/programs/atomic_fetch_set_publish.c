/* races: none; class: atomic; pes: 2 */
/* Data are put, completed, then published by an atomic set; the reader polls by atomic fetch from itself. */
#include <shmem.h>

static long data[4];
static int ready;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    const long four[4] = {1, 2, 3, 4};
    shmem_long_put(data, four, 4, 1);
    shmem_quiet();
    shmem_int_atomic_set(&ready, 1, 1);
  } else {
    while (shmem_int_atomic_fetch(&ready, 1) != 1) {
    }
    wrong = data[3] != 4;
  }
  shmem_finalize();
  return wrong;
}
