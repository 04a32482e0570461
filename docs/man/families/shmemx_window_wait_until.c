#include <shmemx.h>

int main(void) {
  static int ready = 0;
  const int one = 1;
  shmem_init();
  shmem_int_atomic_set(&ready, 1, (shmem_my_pe() + 1) % shmem_n_pes());
  shmemx_event_t events[2] = {{0}, {0}};
  events[0].kind = SHMEMX_EVENT_NONE;
  events[1].kind = SHMEMX_EVENT_VALUE;
  events[1].type = SHMEMX_INT32;
  events[1].comparison = SHMEM_CMP_EQ;
  events[1].object = &ready;
  events[1].reference = 1;
  const size_t which = shmemx_event_wait(events, 2);
  const int error = shmemx_window_wait_until(&ready, SHMEMX_INT32, SHMEM_CMP_EQ, &one);
  shmem_finalize();
  return which != 1 || error != SHMEMX_SUCCESS;
}
