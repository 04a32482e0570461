/* races: none; class: collective; pes: 4 */
/* Running sums, and each PE reads its own. */
#include <shmem.h>

static long source, including, excluding;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  source = me + 1;
  shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &including, &source, 1);
  shmem_long_sum_exscan(SHMEM_TEAM_WORLD, &excluding, &source, 1);
  const int wrong = including - excluding != me + 1;
  shmem_finalize();
  return wrong;
}
