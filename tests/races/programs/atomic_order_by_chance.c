/* races: sometimes; class: atomic; pes: 2 */
/* The data are ordered only if PE 0 counts before PE 1 does. Mostly it comes later. */
#include <shmem.h>
#include <unistd.h>

static long counter;
static long data;

int main(void) {
  shmem_init();
  long seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    usleep(100000);
    shmem_long_p(&data, 5, 1);  // race 1
    shmem_quiet();
    (void)shmem_long_atomic_fetch_inc(&counter, 1);
  } else {
    (void)shmem_long_atomic_fetch_inc(&counter, 1);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
