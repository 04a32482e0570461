/* races: always; class: lock; pes: 2 */
/* The lock protects the counter, but the owner reads it by memcpy without the lock after only a sync. */
#include <shmem.h>
#include <string.h>

static long lock;
static long counter;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 1) {
    shmem_set_lock(&lock);
    const long old = shmem_long_g(&counter, 0);
    shmem_long_p(&counter, old + 1, 0);  // race 1
    shmem_clear_lock(&lock);
  } else {
    memcpy(&seen, &counter, sizeof seen);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return seen > 1;
}
