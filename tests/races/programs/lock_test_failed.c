/* races: always; class: lock; pes: 2 */
/* PE 1 takes the 1 of shmem_test_lock for success. PE 0 holds the lock all the time. */
#include <shmem.h>

static long lock;
static long word;
static int held;
static int tried;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_set_lock(&lock);
    shmem_int_atomic_set(&held, 1, 1);
    shmem_long_p(&word, 5, 0);  // race 1
    shmem_int_wait_until(&tried, SHMEM_CMP_EQ, 1);
    shmem_clear_lock(&lock);
  } else {
    shmem_int_wait_until(&held, SHMEM_CMP_EQ, 1);
    if (shmem_test_lock(&lock) == 1) seen = shmem_long_g(&word, 0);  // race 2
    shmem_int_atomic_set(&tried, 1, 0);
  }
  shmem_finalize();
  return seen < 0;
}
