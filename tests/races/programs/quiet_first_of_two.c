/* races: none; class: quiet; pes: 2 */
/* Of two puts the quiet stands between, PE 1 reads only what the first one has put. */
#include <shmem.h>

static long words[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_long_p(&words[0], 5, 1);
    shmem_quiet();
    shmem_long_p(&words[1], 6, 1);
  }
  shmem_sync_all();
  int wrong = me == 1 && words[0] != 5;
  shmem_barrier_all();
  if (me == 1 && words[1] != 6) wrong = 1;
  shmem_finalize();
  return wrong;
}
