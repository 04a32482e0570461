#include <shmem.h>

int main(void) {
  static long offset, lines;
  shmem_init();
  const int me = shmem_my_pe();
  lines = me + 1; /* where do mine begin? */
  shmem_long_sum_exscan(SHMEM_TEAM_WORLD, &offset, &lines, 1);
  const int wrong = offset != (long)me * (me + 1) / 2;
  shmem_finalize();
  return wrong;
}
