/* races: always; class: lock; pes: 2 */
/* The PE that owns the word changes it without the lock that the other one takes. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    balance += 1;  // race 1
  } else {
    shmem_set_lock(&lock);
    shmem_long_p(&balance, 9, 0);  // race 2
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
