/* races: none; class: local; pes: 2 */
/* The result of a non-blocking get is read after shmem_quiet. */
#include <shmem.h>

static long source[8] = {1, 2, 3, 4, 5, 6, 7, 8};

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long result[8] = {0};
  if (me == 0) {
    shmem_long_get_nbi(result, source, 8, 1);
    shmem_quiet();
  }
  const int wrong = me == 0 && result[7] != 8;
  shmem_finalize();
  return wrong;
}
