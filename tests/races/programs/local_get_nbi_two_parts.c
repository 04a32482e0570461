/* races: none; class: local; pes: 3 */
/* Two non-blocking gets from two PEs fill two halves of an array. */
#include <shmem.h>

static long source[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 4; ++i) source[i] = 10 * me + i;
  shmem_barrier_all();
  long result[8] = {0};
  if (me == 0) {
    shmem_long_get_nbi(result, source, 4, 1);
    shmem_long_get_nbi(result + 4, source, 4, 2);
    shmem_quiet();
  }
  const int wrong = me == 0 && (result[3] != 13 || result[4] != 20);
  shmem_finalize();
  return wrong;
}
