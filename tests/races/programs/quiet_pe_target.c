/* races: none; class: quiet; pes: 3 */
/* shmem_pe_quiet for the PEs that have been put to, and a synchronisation. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    const int targets[2] = {2, 1};
    shmem_long_p(&word, 5, 1);
    shmem_long_p(&word, 6, 2);
    shmem_pe_quiet(targets, 2);
  }
  shmem_sync_all();
  const int wrong = me > 0 && word != 4 + me;
  shmem_finalize();
  return wrong;
}
