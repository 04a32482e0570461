/* races: none; class: barrier; pes: 2 */
/* shmem_sync_all makes stores visible: PE 1 gets what PE 0 has stored into its own memory before. */
#include <shmem.h>

static long array[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0)
    for (int i = 0; i < 4; ++i) array[i] = i;
  shmem_sync_all();
  long copy[4] = {0};
  if (me == 1) shmem_long_get(copy, array, 4, 0);
  const int wrong = me == 1 && copy[3] != 3;
  shmem_finalize();
  return wrong;
}
