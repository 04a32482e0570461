/* races: none; class: wait; pes: 2 */
/* A ring buffer with head and tail, each updated by one PE's puts and polled by
 * the other. */
#include <shmem.h>
#define SLOTS 4
static long ring[SLOTS];
static long head, tail;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  for (long i = 0; i < 20; i++) {
    if (me == 0) {
      shmem_long_wait_until(&tail, SHMEM_CMP_GT, i - SLOTS);
      shmem_long_p(&ring[i % SLOTS], i * i, 1);
      shmem_fence();
      shmem_long_atomic_set(&head, i + 1, 1);
    } else {
      shmem_long_wait_until(&head, SHMEM_CMP_GT, i);
      wrong |= ring[i % SLOTS] != i * i;
      shmem_long_atomic_set(&tail, i + 1, 0);
    }
  }
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
