#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_team_t even;
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even) != 0) return 1;
  int wrong = (even == SHMEM_TEAM_INVALID) != (me % 2);
  if (even != SHMEM_TEAM_INVALID) {
    wrong |= shmem_team_my_pe(even) != me / 2;
    shmem_team_destroy(even);
  }
  shmem_finalize();
  return wrong;
}
