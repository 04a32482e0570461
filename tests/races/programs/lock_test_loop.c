/* races: none; class: lock; pes: 3 */
/* The lock is taken by shmem_test_lock, which returns 0 when it has succeeded. */
#include <shmem.h>
#include <unistd.h>

static long lock;
static int balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  while (shmem_test_lock(&lock) != 0) usleep(50);
  shmem_int_p(&balance, shmem_int_g(&balance, 2) + 1, 2);
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  const int wrong = me == 2 && balance != 3;
  shmem_finalize();
  return wrong;
}
