/* Step 8: a lock. All PEs change two numbers on PE 0 that must fit together, which no single atomic can do.
 *
 * Usage: oshrun -n 4 ./08_lock
 */
#include <shmem.h>
#include <stdio.h>

enum { kRounds = 100 };

static long lock;       /* 0 on all PEs before the first use */
static long count, sum; /* of PE 0: `sum` is always 3 times `count` */

int main(void) {
  shmem_init();
  int wrong = 0;

  for (int round = 0; round < kRounds; ++round) {
    shmem_set_lock(&lock); /* waits until no other PE has it */
    const long c = shmem_long_g(&count, 0);
    const long s = shmem_long_g(&sum, 0);
    if (s != 3 * c) wrong = 1;
    shmem_long_p(&count, c + 1, 0);
    shmem_long_p(&sum, s + 3, 0);
    shmem_clear_lock(&lock); /* completes these puts first, as quiet does */
  }
  shmem_barrier_all();

  if (shmem_my_pe() == 0) {
    if (count != (long)kRounds * shmem_n_pes()) wrong = 1;
    printf("count is %ld, sum is %ld%s\n", count, sum, wrong ? ": WRONG" : "");
  }
  shmem_finalize();
  return wrong;
}
