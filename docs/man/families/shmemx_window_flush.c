#include <shmemx.h>

int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  static shmemx_window_description_t mine;
  shmemx_window_description_t theirs;
  static int box[8];
  int values[8];
  long open = 0;
  shmemx_window_t own, window;
  if (shmemx_window_expose(box, sizeof box, &own) != SHMEMX_SUCCESS) return 1;
  shmemx_window_describe(own, &mine);
  shmem_barrier_all();
  shmem_getmem(&theirs, &mine, sizeof mine, next);
  if (shmemx_window_attach(&theirs, &window) != SHMEMX_SUCCESS) return 1;
  int* target = shmemx_window_base(window);
  for (int i = 0; i < 8; ++i) {
    values[i] = i;
    shmemx_window_put_nbi(window, target + i, &values[i], sizeof(int), &open);
  }
  shmemx_window_wait(&open);
  const int error = shmemx_window_flush(window);
  shmem_sync_all();
  const int wrong = error != SHMEMX_SUCCESS || box[7] != 7;
  shmemx_window_detach(window);
  shmem_barrier_all();
  shmemx_window_free(own);
  shmem_finalize();
  return wrong;
}
