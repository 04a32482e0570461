/* races: always; class: atomic; pes: 2 */
/* A lock taken by compare-and-swap is released by a put, which is not atomic with it. */
#include <shmem.h>
#include <unistd.h>

static long lock;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int turn = 0; turn < 2000; ++turn) {
    const long old = shmem_long_atomic_compare_swap(&lock, 0, me + 1, 0);  // race 1
    if (old == 0) break;
    usleep(20);
  }
  shmem_long_p(&lock, 0, 0);  // race 2
  shmem_quiet();
  shmem_finalize();
  return 0;
}
