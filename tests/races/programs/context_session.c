/* races: always; class: context; pes: 2 */
/* The end of a session is a hint, no quiet. */
#include <shmem.h>

static long source[2] = {1, 2};
static long dest[2];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_long_put_nbi(dest, source, 2, 1);  // race 1
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    source[0] = 7;  // race 2
  }
  shmem_finalize();
  return 0;
}
