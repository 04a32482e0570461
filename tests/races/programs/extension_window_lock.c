/* races: none; class: extension; pes: 2 */
/* The lock of a window protects a word that it does not cover. */
#include <shmem.h>
#include <shmemx.h>

static long word;
static shmemx_window_description_t description;

int main(void) {
  shmem_init();
  void* memory = NULL;
  shmemx_window_t own;
  shmemx_window_t window;
  int wrong = shmemx_window_allocate(64, &memory, &own) != 0;
  wrong |= shmemx_window_describe(own, &description) != 0;
  shmem_barrier_all();
  shmemx_window_description_t of_first;
  shmem_getmem(&of_first, &description, sizeof of_first, 0);
  wrong |= shmemx_window_attach(&of_first, &window) != 0;
  for (int i = 0; i < 10; ++i) {
    wrong |= shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE) != 0;
    shmem_long_p(&word, shmem_long_g(&word, 1) + 1, 1);
    shmem_quiet();
    wrong |= shmemx_window_unlock(window) != 0;
  }
  shmem_barrier_all();
  wrong |= shmem_long_g(&word, 1) != 20;
  shmemx_window_detach(window);
  shmem_barrier_all();
  shmemx_window_free(own);
  shmem_finalize();
  return wrong;
}
