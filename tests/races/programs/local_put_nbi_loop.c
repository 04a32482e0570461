/* races: always; class: local; pes: 2 */
/* One buffer for all blocks: each turn fills it while the put of the turn before still reads it. */
#include <shmem.h>

static int dest[4][16];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    int buffer[16];
    for (int block = 0; block < 4; ++block) {
      for (int i = 0; i < 16; ++i) buffer[i] = 16 * block + i;  // race 1
      shmem_int_put_nbi(dest[block], buffer, 16, 1);            // race 2
    }
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
