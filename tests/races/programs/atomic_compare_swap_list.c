/* races: none; class: atomic; pes: 3 */
/* PEs push records to a list in PE 0 by compare-and-swap; PE 0 walks it after a barrier. */
#include <shmem.h>

static long head = -1;
static long next[3];
static long value[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_long_p(&value[me], me * 10, 0);
  shmem_quiet();
  for (long old = shmem_long_atomic_fetch(&head, 0);;) {
    shmem_long_p(&next[me], old, 0);
    shmem_quiet();
    const long seen = shmem_long_atomic_compare_swap(&head, old, me, 0);
    if (seen == old) break;
    old = seen;
  }
  shmem_barrier_all();
  long sum = 0;
  if (me == 0)
    for (long at = shmem_long_atomic_fetch(&head, 0); at >= 0; at = next[at]) sum += value[at];
  shmem_finalize();
  return me == 0 && sum != 30;
}
