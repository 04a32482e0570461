/* races: none; class: fence; pes: 2; flags: -std=c11 */
/* Store by shmem_ptr, shmem_fence, and a relaxed atomic store as the flag of a wait. */
#include <shmem.h>
#include <stdatomic.h>
static long flag, data;
int main(void) {
  shmem_init();
  int bad = 0;
  long* f = shmem_ptr(&flag, 0);
  long* d = shmem_ptr(&data, 0);
  if (f != NULL && d != NULL) {
    if (shmem_my_pe() == 1) {
      *d = 7;
      shmem_fence();
      atomic_store_explicit((_Atomic long*)f, 1, memory_order_relaxed);
    } else {
      shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
      bad = data != 7;
    }
  }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
