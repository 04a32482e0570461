// The last PE ends while it holds the lock of PE 0's window, which the others request: how it ends is the argument.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

shmemx_window_t window_of_first() {
  static shmemx_window_description_t own, of_first;
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  shmemx_window_expose(nullptr, 0, &window);
  shmemx_window_describe(window, &own);
  shmem_barrier_all();
  shmem_getmem(&of_first, &own, sizeof own, 0);
  if (shmemx_window_attach(&of_first, &window) != 0) _exit(2);
  return window;
}

int end(const char* how) {
  if (std::strcmp(how, "kill") == 0) raise(SIGKILL);
  if (std::strcmp(how, "exit") == 0) std::exit(3);
  if (std::strcmp(how, "vanish") == 0) _exit(0);
  if (std::strcmp(how, "finalize") == 0) shmem_finalize();
  return 0;
}

}  // namespace

int main(int, char** argv) {
  shmem_init();
  const bool last = shmem_my_pe() == shmem_n_pes() - 1;
  const int kind = std::strcmp(argv[2], "shared") == 0 ? SHMEMX_LOCK_SHARED : SHMEMX_LOCK_EXCLUSIVE;
  const shmemx_window_t window = window_of_first();
  if (last && shmemx_window_lock(window, kind) != SHMEMX_SUCCESS) return 2;
  shmem_barrier_all();
  if (last) return end(argv[1]);
  if (shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE) != SHMEMX_SUCCESS) return 2;
  std::printf("granted\n");
  shmemx_window_unlock(window);
  shmem_finalize();
  return 0;
}
