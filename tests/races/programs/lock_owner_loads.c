/* races: none; class: lock; pes: 2 */
/* The PE that owns the word changes it by loads and stores, the other one by put and get, both under the lock. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 3; ++i) {
    shmem_set_lock(&lock);
    if (me == 0)
      balance += 1;
    else
      shmem_long_p(&balance, shmem_long_g(&balance, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  const int wrong = me == 0 && balance != 6;
  shmem_finalize();
  return wrong;
}
