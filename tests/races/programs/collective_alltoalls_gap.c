/* races: none; class: collective; pes: 2 */
/* alltoalls writes every second element, and PE 1 puts to one of the elements between them. */
#include <shmem.h>

static long source[4], dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 4; ++i) source[i] = i;
  if (me == 1) shmem_long_p(&dest[1], 7, 0);
  shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 1, 1);
  shmem_barrier_all();
  const int wrong = me == 0 && (dest[1] != 7 || dest[2] != 0);
  shmem_finalize();
  return wrong;
}
