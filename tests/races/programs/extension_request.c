/* races: none; class: extension; pes: 3 */
/* A barrier that does not block stands between a store and the get of another PE, and one more before the next store. */
#include <shmem.h>
#include <shmemx.h>

static long word;

int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  int wrong = 0;
  for (long i = 0; i < 10; ++i) {
    shmemx_request_t request;
    word = 100 * i + shmem_my_pe();
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
    shmemx_wait(&request, NULL);
    wrong |= shmem_long_g(&word, next) != 100 * i + next;
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
    for (int is_complete = 0; !is_complete;) shmemx_test(&request, &is_complete, NULL);
  }
  shmem_finalize();
  return wrong;
}
