/* races: none; class: atomic; pes: 3 */
/* A ticket lock: a ticket by fetch_inc, and the turn is awaited by atomic_fetch. */
#include <shmem.h>
#include <unistd.h>

static long next_ticket, now_served;
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long ticket = shmem_long_atomic_fetch_inc(&next_ticket, 0);
  while (shmem_long_atomic_fetch(&now_served, 0) != ticket) usleep(20);
  shmem_long_p(&balance, shmem_long_g(&balance, 0) + 10, 0);
  shmem_quiet();
  shmem_long_atomic_inc(&now_served, 0);
  shmem_barrier_all();
  const int wrong = me == 0 && balance != 30;
  shmem_finalize();
  return wrong;
}
