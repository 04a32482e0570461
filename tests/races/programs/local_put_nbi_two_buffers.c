/* races: none; class: local; pes: 2 */
/* Two buffers in turn, and shmem_quiet before either is filled again. */
#include <shmem.h>

static int dest[4][16];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    int buffer[2][16];
    for (int block = 0; block < 4; ++block) {
      int* half = buffer[block % 2];
      if (half == buffer[0]) shmem_quiet();
      for (int i = 0; i < 16; ++i) half[i] = 16 * block + i;
      shmem_int_put_nbi(dest[block], half, 16, 1);
    }
    shmem_quiet();
  }
  shmem_barrier_all();
  const int wrong = me == 1 && (dest[0][15] != 15 || dest[3][0] != 48);
  shmem_finalize();
  return wrong;
}
