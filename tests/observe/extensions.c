/* What a test of SHMEM_STATS and SHMEM_TRACE observes of extensions: operations on the window of the next PE, and tasks. */
#include <shmem.h>
#include <shmemx.h>
#include <stddef.h>
#include <stdlib.h>

enum { kTask = 9, kCall = 10, kTasks = 5 };

static shmemx_window_description_t own_window, next_window;

static void use_window(int next) {
  char local[200] = {0};
  long one = 1, old, four[4] = {1, 2, 3, 4};
  char* base;
  shmemx_window_t own, window;
  if (shmemx_window_allocate(1000, (void**)&base, &own) != SHMEMX_SUCCESS) abort();
  shmemx_window_describe(own, &own_window);
  shmem_barrier_all();
  shmem_getmem(&next_window, &own_window, sizeof next_window, next);
  if (shmemx_window_attach(&next_window, &window) != SHMEMX_SUCCESS) abort();
  char* const target = shmemx_window_base(window);
  for (int i = 0; i < 3; i++) shmemx_window_put(window, target + 100 * i, local, 100);
  shmemx_window_put_strided(window, target, 20, local, 10, 10, 4);
  shmemx_window_get(window, local, target, 50);
  shmemx_window_fetch_op(window, target + 800, &one, &old, SHMEMX_INT64, SHMEMX_OP_SUM);
  shmemx_window_accumulate(window, target + 808, four, 4, SHMEMX_INT64, SHMEMX_OP_SUM);
  if (shmemx_window_put(window, target + 990, local, 100) == SHMEMX_SUCCESS) abort(); /* refused, so not counted */
  shmemx_window_flush(window);
  shmemx_window_detach(window);
  shmem_barrier_all();
  shmemx_window_free(own);
}

static void on_task(int source, const void* payload, size_t bytes, void* argument) {
  (void)source, (void)payload, (void)bytes, (void)argument;
}
static void on_call(int source, const void* payload, size_t bytes, void* argument) {
  (void)source, (void)bytes, (void)argument;
  shmemx_task_reply(payload, 8);
}

static void use_tasks(int next) {
  const char payload[24] = {0};
  long answer;
  shmemx_request_t request;
  shmemx_task_register(kTask, on_task, NULL);
  shmemx_task_register(kCall, on_call, NULL);
  shmem_barrier_all();
  for (int i = 0; i < kTasks; i++) shmemx_task_send(next, kTask, payload, sizeof payload, 0);
  shmemx_task_multicast(SHMEM_TEAM_WORLD, kTask, payload, 16, 0);
  shmemx_task_call(next, kCall, payload, 8, &answer, sizeof answer, &request);
  shmemx_scheduler_quiesce();
  shmemx_wait(&request, NULL);
}

int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  use_window(next);
  use_tasks(next);
  shmem_finalize();
  return 0;
}
