/* Step 11: tasks, an extension of this library. A long range of numbers is divided: one half is counted here, and the
 * other one becomes a task of another PE, which does the same.
 *
 * Usage: oshrun -n 4 ./11_tasks
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

enum { kCountPrimes = 1, kAtOnce = 100, kEnd = 10000, kPrimes = 1229 };

struct range {
  long begin, end;
};

static int next;        /* the PE that gets the next half */
static long found, sum; /* primes found by this PE, and by all */

static int is_prime(long n) {
  for (long d = 2; d * d <= n; ++d)
    if (n % d == 0) return 0;
  return n > 1;
}

static void on_range(int source, const void *payload, size_t bytes, void *argument) {
  (void)source, (void)bytes, (void)argument;
  struct range mine = *(const struct range *)payload;
  while (mine.end - mine.begin > kAtOnce) { /* give the upper half away */
    const struct range upper = {(mine.begin + mine.end) / 2, mine.end};
    next = (next + 1) % shmem_n_pes();
    shmemx_task_send(next, kCountPrimes, &upper, sizeof upper, 0);
    mine.end = upper.begin;
  }
  for (long n = mine.begin; n < mine.end; ++n) found += is_prime(n);
}

int main(void) {
  shmem_init();
  next = shmem_my_pe();
  shmemx_task_register(kCountPrimes, on_range, NULL); /* the same number for the same function on all PEs */
  shmem_barrier_all();                                /* from here on all PEs can receive such tasks */

  const struct range all = {0, kEnd};
  if (shmem_my_pe() == 0) shmemx_task_send(0, kCountPrimes, &all, sizeof all, 0);
  shmemx_scheduler_quiesce(); /* all PEs run tasks, until there is none left on any PE */

  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &found, 1);
  if (shmem_my_pe() == 0) printf("%ld primes below %d\n", sum, kEnd);

  shmem_finalize();
  return sum != kPrimes;
}
