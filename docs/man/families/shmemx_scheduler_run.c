#include <shmemx.h>

/* A token goes round the PEs and ends the run of each. */
static void pass_on(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)payload;
  (void)bytes;
  (void)argument;
  const int next = shmem_my_pe() + 1;
  if (next < shmem_n_pes()) shmemx_task_send(next, 0, NULL, 0, 0);
  shmemx_scheduler_stop();
}

int main(void) {
  shmem_init();
  shmemx_task_register(0, pass_on, NULL);
  shmem_barrier_all(); /* all have the handler */
  if (shmem_my_pe() == 0) shmemx_task_send(0, 0, NULL, 0, 0);
  const size_t count = shmemx_scheduler_run();
  shmem_finalize();
  return count != 1;
}
