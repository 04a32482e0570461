/* races: always; class: atomic; pes: 2 */
/* Data are put and then published by an atomic set, without fence or quiet. */
#include <shmem.h>

static long data[4];
static int ready;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    const long four[4] = {1, 2, 3, 4};
    shmem_long_put(data, four, 4, 1);  // race 1
    shmem_int_atomic_set(&ready, 1, 1);
  } else {
    while (shmem_int_atomic_fetch(&ready, 1) != 1) {
    }
    seen = data[3];  // race 2
  }
  shmem_finalize();
  return seen > 4;
}
