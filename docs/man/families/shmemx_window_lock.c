#include <shmemx.h>

int main(void) {
  static shmemx_window_description_t mine_described, description;
  static int counter = 0; /* PE 0's */
  shmem_init();
  shmemx_window_t mine, window;
  if (shmem_my_pe() == 0) {
    shmemx_window_expose(&counter, sizeof counter, &mine);
    shmemx_window_describe(mine, &mine_described);
  }
  shmem_broadcastmem(SHMEM_TEAM_WORLD, &description, &mine_described, sizeof description, 0);
  if (shmemx_window_attach(&description, &window) != SHMEMX_SUCCESS) return 1;
  void* target = shmemx_window_base(window);
  int value;
  shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE);
  shmemx_window_get(window, &value, target, sizeof value);
  ++value;
  shmemx_window_put(window, target, &value, sizeof value);
  shmemx_window_unlock(window);
  shmemx_window_detach(window);
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 0 && counter != shmem_n_pes();
  if (shmem_my_pe() == 0) shmemx_window_free(mine);
  shmem_finalize();
  return wrong;
}
