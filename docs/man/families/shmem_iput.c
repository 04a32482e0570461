#include <shmem.h>

int main(void) {
  static int matrix[3][4]; /* row by row */
  const int column[3] = {1, 2, 3};
  shmem_init();
  shmem_int_iput(&matrix[0][2], column, 4, 1, 3, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  const int wrong = matrix[0][2] != 1 || matrix[2][2] != 3 || matrix[2][3] != 0;
  shmem_finalize();
  return wrong;
}
