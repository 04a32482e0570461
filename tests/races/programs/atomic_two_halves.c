/* races: none; class: atomic; pes: 2 */
/* Atomics of four bytes on the two halves of an aligned word of eight bytes. */
#include <shmem.h>

static int32_t half[2] __attribute__((aligned(8)));

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (me < 2) shmem_int32_atomic_add(&half[me], 5, 0);
  shmem_barrier_all();
  const int wrong = me == 0 && (half[0] != 5 || half[1] != 5);
  shmem_finalize();
  return wrong;
}
