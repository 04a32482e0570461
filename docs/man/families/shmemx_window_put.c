#include <shmemx.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  static shmemx_window_description_t mine;
  shmemx_window_description_t theirs;
  void* memory;
  shmemx_window_t own, window;
  if (shmemx_window_allocate(sizeof(int), &memory, &own) != SHMEMX_SUCCESS) return 1;
  shmemx_window_describe(own, &mine);
  shmem_barrier_all();
  shmem_getmem(&theirs, &mine, sizeof mine, next);
  if (shmemx_window_attach(&theirs, &window) != SHMEMX_SUCCESS) return 1;
  shmemx_window_put(window, shmemx_window_base(window), &me, sizeof me);
  int there = -1;
  shmemx_window_get(window, &there, shmemx_window_base(window), sizeof there);
  shmemx_window_detach(window);
  shmem_barrier_all();
  shmemx_window_free(own);
  shmem_finalize();
  return there != me;
}
