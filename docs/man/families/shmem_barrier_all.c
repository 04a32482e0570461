#include <shmem.h>

int main(void) {
  static int value = 0;
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_int_p(&value, 3, next);
  shmem_quiet();
  shmem_team_sync(SHMEM_TEAM_WORLD); /* quiet and sync: what shmem_barrier_all does */
  const int wrong = value != 3;
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
