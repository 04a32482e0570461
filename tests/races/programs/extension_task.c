/* races: none; class: extension; pes: 2 */
/* A task tells its handler that a put is complete. The end of all tasks orders what handlers have stored. */
#include <shmem.h>
#include <shmemx.h>

static long word;
static long seen;

static void look(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)payload;
  (void)bytes;
  *(long*)argument = word;
}

int main(void) {
  shmem_init();
  shmemx_task_register(5, look, &seen);
  shmem_barrier_all();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_long_p(&word, 7, 1);
    shmem_quiet();
    shmemx_task_send(1, 5, NULL, 0, 0);
  }
  shmemx_scheduler_quiesce();
  const int wrong = shmem_long_g(&seen, 1) != 7;
  shmem_finalize();
  return wrong;
}
