#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  const int mine = shmem_team_my_pe(SHMEM_TEAM_SHARED);
  const int world = shmem_team_translate_pe(SHMEM_TEAM_SHARED, mine, SHMEM_TEAM_WORLD);
  printf("PE %d is number %d of %d on its node\n", world, mine, shmem_team_n_pes(SHMEM_TEAM_SHARED));
  const int wrong = world != shmem_my_pe();
  shmem_finalize();
  return wrong;
}
