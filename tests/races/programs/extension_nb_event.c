/* races: none; class: extension; pes: 2 */
/* The event of a request says that its collective is complete, before a wait makes it null. */
#include <shmem.h>
#include <shmemx.h>

int main(void) {
  shmem_init();
  double value = shmem_my_pe();
  double sum = 0;
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &sum, &value, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM, &request);
  const shmemx_event_t event = {.kind = SHMEMX_EVENT_REQUEST, .object = &request};
  shmemx_event_wait(&event, 1);
  const int wrong = sum != 1;
  value = 4;
  shmemx_wait(&request, NULL);
  shmem_finalize();
  return wrong;
}
