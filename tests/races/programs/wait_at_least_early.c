/* races: always; class: wait; pes: 2 */
/* The writer lets the reader fall one slot too far behind. */
#include <shmem.h>
#define SLOTS 2
static long ring[SLOTS];
static long head, tail;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long sum = 0;
  for (long i = 0; i < 12; i++) {
    if (me == 0) {
      shmem_long_wait_until(&tail, SHMEM_CMP_GE, i - SLOTS);
      shmem_long_p(&ring[i % SLOTS], i * i, 1);  // race 1
      shmem_fence();
      shmem_long_atomic_set(&head, i + 1, 1);
    } else {
      shmem_long_wait_until(&head, SHMEM_CMP_GT, i);
      sum += ring[i % SLOTS];  // race 2
      shmem_long_atomic_set(&tail, i + 1, 0);
    }
  }
  shmem_barrier_all();
  shmem_finalize();
  return sum < 0;
}
