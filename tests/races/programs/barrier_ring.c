/* races: none; class: barrier; pes: 4 */
/* A value goes round the ring. One barrier ends each turn's puts, a second one its reads. */
#include <shmem.h>

static long box;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  long value = me;
  for (int turn = 0; turn < pe_count; ++turn) {
    shmem_long_p(&box, value, (me + 1) % pe_count);
    shmem_barrier_all();
    value = box;
    shmem_barrier_all();
  }
  shmem_finalize();
  return value != me;
}
