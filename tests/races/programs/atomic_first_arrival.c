/* races: always; class: atomic; pes: 2 */
/* Each PE puts its part, completes it and counts itself. The first one reads both parts, whatever the other does. */
#include <shmem.h>

static long arrived;
static long parts[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long all[2] = {0};
  shmem_long_p(&parts[me], 10, 0);  // race 1
  shmem_quiet();
  if (shmem_long_atomic_fetch_inc(&arrived, 0) == 0) {
    shmem_long_get(all, parts, 2, 0);  // race 2
  }
  shmem_finalize();
  return all[0] < 0;
}
