#include <shmem.h>

int main(void) {
  static double total, mine;
  shmem_init();
  const int n = shmem_n_pes();
  mine = shmem_my_pe() + 1;
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &total, &mine, 1);
  const int wrong = total != n * (n + 1) / 2;
  shmem_finalize();
  return wrong;
}
