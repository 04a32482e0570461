/* races: always; class: lock; pes: 2 */
/* PE 0 puts under the lock, PE 1 gets without it. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    shmem_set_lock(&lock);
    shmem_long_p(&balance, 7, 0);  // race 1
    shmem_clear_lock(&lock);
  } else {
    seen = shmem_long_g(&balance, 0);  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
