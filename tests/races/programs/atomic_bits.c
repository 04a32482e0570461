/* races: none; class: atomic; pes: 3 */
/* All PEs change bits of one word of PE 0 by bitwise atomics. */
#include <shmem.h>

static unsigned long bits = 0xf0;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  shmem_ulong_atomic_or(&bits, 1ul << me, 0);
  shmem_ulong_atomic_xor(&bits, 0x100ul << me, 0);
  (void)shmem_ulong_atomic_fetch_and(&bits, ~(0x10ul << me), 0);
  shmem_barrier_all();
  const int wrong = me == 0 && bits != 0x787;
  shmem_finalize();
  return wrong;
}
