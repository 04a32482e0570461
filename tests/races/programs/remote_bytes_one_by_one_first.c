/* races: none; class: remote; pes: 2 */
/* The first byte is put before the fence and the flag; the later ones, still on their way, are not read. */
#include <shmem.h>
static char box[8];
static long flag;
int main(void) {
  shmem_init();
  int bad = 0;
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 8; ++i) {
      shmem_char_p(&box[i], (char)(i + 1), 1);
      if (i == 0) {
        shmem_fence();
        shmem_long_p(&flag, 1, 1);
      }
    }
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    bad = box[0] != 1;
  }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
