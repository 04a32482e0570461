/* races: always; class: barrier; pes: 4 */
/* A value goes round the ring, with one barrier for each turn: the next put meets the read of the turn before. */
#include <shmem.h>

static long box;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  long value = me;
  for (int turn = 0; turn < pe_count; ++turn) {
    shmem_long_p(&box, value, (me + 1) % pe_count);  // race 1
    shmem_barrier_all();
    value = box;  // race 2
  }
  shmem_finalize();
  return value < 0;
}
