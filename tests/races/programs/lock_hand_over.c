/* races: none; class: lock; pes: 3 */
/* All PEs append to a list in PE 0's memory under a lock, by several puts and gets. */
#include <shmem.h>

static long lock;
static long n;
static long list[3][2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_set_lock(&lock);
  const long at = shmem_long_g(&n, 0);
  const long both[2] = {me, me + 10};
  shmem_long_put(list[at], both, 2, 0);
  shmem_long_p(&n, at + 1, 0);
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  int wrong = 0;
  if (me == 0)
    for (int i = 0; i < 3; ++i) wrong |= list[i][1] != list[i][0] + 10;
  shmem_finalize();
  return wrong;
}
