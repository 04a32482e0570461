/* races: none; class: fence; pes: 2 */
/* As in programs older than atomics: the flag is a word that a put writes, behind a fence. */
#include <shmem.h>

static long data[4];
static long flag;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    const long values[4] = {1, 2, 3, 4};
    shmem_long_put(data, values, 4, 1);
    shmem_fence();
    shmem_long_p(&flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    wrong = data[3] != 4;
  }
  shmem_finalize();
  return wrong;
}
