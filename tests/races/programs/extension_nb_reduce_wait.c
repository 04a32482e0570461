/* races: none; class: extension; pes: 2 */
/* The result of a reduction that does not block is read after its wait; other data change meanwhile. */
#include <shmem.h>
#include <shmemx.h>

static double mine;
static double sum;
static double other;

int main(void) {
  shmem_init();
  int wrong = 0;
  for (int i = 0; i < 5; ++i) {
    shmemx_request_t request;
    mine = shmem_my_pe() + i;
    shmemx_reduce_nb(SHMEM_TEAM_WORLD, &sum, &mine, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM, &request);
    other = mine + i;
    shmemx_wait(&request, NULL);
    wrong |= sum != 1 + 2 * i;
    sum = other;
  }
  shmem_finalize();
  return wrong;
}
