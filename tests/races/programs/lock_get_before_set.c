/* races: sometimes; class: lock; pes: 2 */
/* PE 1 gets the word before it takes the lock. Mostly PE 0 has been there: then nothing orders its put before the get.
 */
#include <shmem.h>
#include <unistd.h>

static long lock;
static long word;

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    shmem_set_lock(&lock);
    shmem_long_p(&word, 5, 0);  // race 1
    shmem_clear_lock(&lock);
  } else {
    usleep(100000);
    seen = shmem_long_g(&word, 0);  // race 2
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  }
  shmem_finalize();
  return seen < 0;
}
