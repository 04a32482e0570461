#include <shmemx.h>

int main(void) {
  static shmemx_window_description_t mine_described, description; /* of PE 0's window */
  shmem_init();
  shmemx_window_t mine = SHMEMX_WINDOW_INVALID, window;
  long numbers[4] = {1, 2, 3, 4}; /* on the stack */
  if (shmem_my_pe() == 0) {
    shmemx_window_expose(numbers, sizeof numbers, &mine);
    shmemx_window_describe(mine, &mine_described);
  }
  shmem_broadcastmem(SHMEM_TEAM_WORLD, &description, &mine_described, sizeof description, 0);
  if (shmemx_window_attach(&description, &window) != SHMEMX_SUCCESS) return 1;
  const int wrong = shmemx_window_owner(window) != 0 || shmemx_window_bytes(window) != sizeof numbers;
  shmemx_window_detach(window);
  shmem_barrier_all();
  if (mine != SHMEMX_WINDOW_INVALID) shmemx_window_free(mine);
  shmem_finalize();
  return wrong;
}
