/* races: none; class: extension; pes: 2 */
/* A payload is filled again once the library has released it. */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

enum { kBytes = 1 << 20 };
static char payload[kBytes];

static void look(int source, const void* from, size_t bytes, void* argument) {
  (void)source;
  *(size_t*)argument += bytes + (size_t)((const char*)from)[bytes - 1];
}
static void release(void* released, void* argument) {
  memset(released, 2, kBytes);
  ++*(int*)argument;
}

int main(void) {
  shmem_init();
  size_t seen = 0;
  int n_released = 0;
  shmemx_task_register(5, look, &seen);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    memset(payload, 1, kBytes);
    shmemx_task_send_owned(1, 5, payload, kBytes, 0, release, &n_released);
    while (n_released == 0) shmemx_scheduler_poll(1);
    payload[0] = 3;
    shmemx_task_send_owned(1, 5, payload, kBytes, 0, release, &n_released);
  }
  shmemx_scheduler_quiesce();
  const int wrong = shmem_my_pe() == 1 ? seen != 2 * kBytes + 3 : n_released != 2;
  shmem_finalize();
  return wrong;
}
