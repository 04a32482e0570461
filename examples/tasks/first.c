#include <shmemx.h>
#include <stdio.h>

enum { kVisit = 1 };

static long visits = 0;

static void on_visit(int source, const void *payload, size_t bytes, void *argument) {
  long left = *(const long *)payload;
  (void)source;
  (void)argument;
  ++visits;
  if (left-- > 0) {
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmemx_task_send(next, kVisit, &left, bytes, 0);
  }
}

int main(void) {
  shmem_init();
  shmemx_task_register(kVisit, on_visit, NULL);
  shmem_barrier_all(); /* all have the handler */
  if (shmem_my_pe() == 0) {
    long left = 9;
    shmemx_task_send(0, kVisit, &left, sizeof left, 0);
  }
  shmemx_scheduler_quiesce();
  printf("PE %d: %ld visits\n", shmem_my_pe(), visits);
  shmem_finalize();
  return 0;
}
