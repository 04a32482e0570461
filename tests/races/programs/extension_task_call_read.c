/* races: always; class: extension; pes: 2 */
/* The result of a call is read before the reply has completed its request. */
#include <shmem.h>
#include <shmemx.h>

static void answer(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)payload;
  (void)bytes;
  (void)argument;
  const long seven = 7;
  shmemx_task_reply(&seven, sizeof seven);
}

int main(void) {
  shmem_init();
  shmemx_task_register(6, answer, NULL);
  shmem_barrier_all();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    long result = 0;
    shmemx_request_t request;
    shmemx_task_call(1, 6, NULL, 0, &result, sizeof result, &request);  // race 1
    const long early = result;                                          // race 2
    shmemx_wait(&request, NULL);
    wrong = result != 7 || early > 7;
  }
  shmemx_scheduler_quiesce();
  shmem_finalize();
  return wrong;
}
