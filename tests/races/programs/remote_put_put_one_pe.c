/* races: always; class: remote; pes: 2 */
/* Two puts of one PE to one word, without a fence: they may be delivered in either order. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_long_p(&word, 1, 1);  // race 1
    shmem_long_p(&word, 2, 1);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
