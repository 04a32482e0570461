#include <shmemx.h>

int main(void) {
  static shmemx_window_description_t mine_described, description;
  static double sum = 0;
  shmem_init();
  shmemx_window_t mine, window;
  if (shmem_my_pe() == 0) {
    shmemx_window_expose(&sum, sizeof sum, &mine);
    shmemx_window_describe(mine, &mine_described);
  }
  shmem_broadcastmem(SHMEM_TEAM_WORLD, &description, &mine_described, sizeof description, 0);
  if (shmemx_window_attach(&description, &window) != SHMEMX_SUCCESS) return 1;
  const double half = 0.5;
  shmemx_window_accumulate(window, shmemx_window_base(window), &half, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM);
  shmemx_window_detach(window);
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 0 && sum != 0.5 * shmem_n_pes();
  if (shmem_my_pe() == 0) shmemx_window_free(mine);
  shmem_finalize();
  return wrong;
}
