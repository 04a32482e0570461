/* races: none; class: collective; pes: 3 */
/* alltoall and strided alltoalls: each PE reads its own dest. */
#include <shmem.h>

static long source[6], dense[6], strided[6];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 6; ++i) source[i] = 10 * me + i;
  shmem_long_alltoall(SHMEM_TEAM_WORLD, dense, source, 2);
  shmem_long_alltoalls(SHMEM_TEAM_WORLD, strided, source, 2, 2, 1);
  const int wrong = dense[3] != 10 + 2 * me + 1 || strided[4] != 20 + 2 * me;
  shmem_finalize();
  return wrong;
}
