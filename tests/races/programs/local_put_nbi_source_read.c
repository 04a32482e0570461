/* races: none; class: local; pes: 2 */
/* The source of a non-blocking put may be read before shmem_quiet, also by a second put. */
#include <shmem.h>

static double source[4] = {1, 2, 3, 4};
static double first[4];
static double second[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  double sum = 0;
  if (me == 0) {
    shmem_double_put_nbi(first, source, 4, 1);
    shmem_double_put_nbi(second, source, 4, 1);
    for (int i = 0; i < 4; ++i) sum += source[i];
    shmem_quiet();
  }
  shmem_barrier_all();
  const int wrong = me == 0 ? sum != 10 : first[3] != 4 || second[0] != 1;
  shmem_finalize();
  return wrong;
}
