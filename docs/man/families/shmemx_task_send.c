#include <shmemx.h>

static long total = 0;

static void add(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)argument;
  if (bytes == sizeof(long)) total += *(const long*)payload;
}

static void get_total(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)payload;
  (void)bytes;
  (void)argument;
  shmemx_task_reply(&total, sizeof total);
}

int main(void) {
  shmem_init();
  const int n = shmem_n_pes();
  shmemx_task_register(0, add, NULL);
  shmemx_task_register(1, get_total, NULL);
  shmem_barrier_all(); /* all have the handlers */
  const long value = shmem_my_pe();
  shmemx_task_multicast(SHMEM_TEAM_WORLD, 0, &value, sizeof value, 0);
  shmemx_scheduler_quiesce();
  long other = 0;
  shmemx_request_t request;
  shmemx_task_call((shmem_my_pe() + 1) % n, 1, NULL, 0, &other, sizeof other, &request);
  shmemx_scheduler_quiesce();
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return other != (long)n * (n - 1) / 2;
}
