/* races: always; class: remote; pes: 2 */
/* PE 0 puts the whole word, PE 1 changes one bit-field in it: a load and a store of the byte around it. */
#include <shmem.h>

static struct {
  unsigned low : 4;
  unsigned high : 4;
} state;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const char both = 0x35;
  if (me == 0) shmem_putmem(&state, &both, 1, 1);  // race 1
  if (me == 1) state.high = 7;                     // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
