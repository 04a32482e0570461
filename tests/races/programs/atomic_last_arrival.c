/* races: none; class: atomic; pes: 3 */
/* Each PE puts its part, completes it and counts itself. Who counts last reads all parts. */
#include <shmem.h>

static long arrived;
static long parts[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  shmem_long_p(&parts[me], 10, 0);
  shmem_quiet();
  if (shmem_long_atomic_fetch_inc(&arrived, 0) == 2) {
    long all[3];
    shmem_long_get(all, parts, 3, 0);
    wrong = all[0] + all[1] + all[2] != 30;
  }
  shmem_finalize();
  return wrong;
}
