/* races: always; class: collective; pes: 3 */
/* PE 0 gets the running sum of the last PE without waiting for it. */
#include <shmem.h>

static long source, sum;

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &sum, &source, 1);  // race 1
  if (shmem_my_pe() == 0) seen = shmem_long_g(&sum, 2);       // race 2
  shmem_finalize();
  return seen < 0;
}
