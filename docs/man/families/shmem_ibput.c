#include <shmem.h>

int main(void) {
  static int field[3][4];
  const int two_columns[6] = {1, 2, 3, 4, 5, 6};
  shmem_init();
  shmem_int_ibput(&field[0][1], two_columns, 4, 2, 2, 3, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  const int wrong = field[0][1] != 1 || field[2][2] != 6 || field[1][3] != 0;
  shmem_finalize();
  return wrong;
}
