/* races: always; class: extension; pes: 2 */
/* The payload of a task is changed before the library has released it. */
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 1 << 20 };

static void look(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  *(size_t*)argument = bytes + (*(const char*)payload == 0);
}
static void release(void* payload, void* argument) {
  *(int*)argument = 1;
  free(payload);
}

int main(void) {
  shmem_init();
  size_t seen = 0;
  int is_released = 0;
  shmemx_task_register(5, look, &seen);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    char* const payload = malloc(kBytes);
    memset(payload, 1, kBytes);
    shmemx_task_send_owned(1, 5, payload, kBytes, 0, release, &is_released);  // race 1
    if (!is_released) payload[kBytes / 2] = 2;                                // race 2
  }
  shmemx_scheduler_quiesce();
  shmem_finalize();
  return 0;
}
