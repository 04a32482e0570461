/* races: none; class: context; pes: 2 */
/* A session of non-blocking puts, with a quiet before its sources change. */
#include <shmem.h>

static long source[2] = {1, 2};
static long dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_long_put_nbi(dest, source, 2, 1);
    shmem_quiet();
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    source[0] = 7;
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[0] != 1;
  shmem_finalize();
  return wrong;
}
