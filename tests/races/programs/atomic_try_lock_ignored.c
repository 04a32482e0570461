/* races: sometimes; class: atomic; pes: 2 */
/* PE 1 tries to take the lock and goes on without it. Mostly PE 0 has it at that time. */
#include <shmem.h>
#include <unistd.h>

static long lock;
static long data;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) (void)shmem_long_atomic_compare_swap(&lock, 0, 1, 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    usleep(100000);
    shmem_long_p(&data, 5, 0);  // race 1
    shmem_quiet();
    shmem_long_atomic_set(&lock, 0, 0);
  } else {
    (void)shmem_long_atomic_compare_swap(&lock, 0, 2, 0);
    seen = shmem_long_g(&data, 0);  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
