/* races: always; class: context; pes: 2 */
/* The quiet of SHMEM_CTX_INVALID does nothing. */
#include <shmem.h>

static int source[4];
static int dest[4];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_int_put_nbi(dest, source, 4, 1);  // race 1
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    source[3] = 1;  // race 2
  }
  shmem_finalize();
  return 0;
}
