/* races: always; class: lock; pes: 2 */
/* The put stands behind shmem_clear_lock. Whoever is first, the lock does not order it before the put of the other. */
#include <shmem.h>

static long lock;
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_set_lock(&lock);
  const long value = me + 1;
  shmem_clear_lock(&lock);
  shmem_long_p(&word, value, 0);  // race 1 and 2
  shmem_barrier_all();
  const int wrong = word > 2;
  shmem_finalize();
  return wrong;
}
