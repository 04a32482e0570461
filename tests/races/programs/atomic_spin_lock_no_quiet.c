/* races: always; class: atomic; pes: 2 */
/* A lock of compare-and-swap is released while the put of the critical section is still under way. */
#include <shmem.h>
#include <unistd.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  while (shmem_long_atomic_compare_swap(&lock, 0, me + 1, 0) != 0) usleep(20);
  const long old = shmem_long_g(&balance, 1);  // race 1
  shmem_long_p(&balance, old + 1, 1);          // race 2
  shmem_long_atomic_set(&lock, 0, 0);
  shmem_barrier_all();
  const int wrong = balance > 2;
  shmem_finalize();
  return wrong;
}
