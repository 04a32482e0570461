/* races: sometimes; class: lock; pes: 2 */
/* PE 0 puts before its critical section, PE 1 gets behind its own. They are ordered only if PE 0 is first. */
#include <shmem.h>
#include <unistd.h>

static long lock;
static long word;

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    usleep(100000);
    shmem_long_p(&word, 5, 1);  // race 1
    shmem_quiet();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  } else {
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    seen = word;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
