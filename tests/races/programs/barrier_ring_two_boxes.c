/* races: none; class: barrier; pes: 4 */
/* A value goes round the ring. With two boxes in turn one barrier for each turn is enough. */
#include <shmem.h>

static long box[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  long value = me;
  for (int turn = 0; turn < pe_count; ++turn) {
    shmem_long_p(&box[turn % 2], value, (me + 1) % pe_count);
    shmem_barrier_all();
    value = box[turn % 2];
  }
  shmem_finalize();
  return value != me;
}
