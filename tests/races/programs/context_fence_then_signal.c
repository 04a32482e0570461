/* races: none; class: context; pes: 2 */
/* Nonblocking puts, a fence and a flag on one created context. */
#include <shmem.h>

static long data[8];
static int flag;

int main(void) {
  shmem_init();
  int wrong = 0;
  shmem_ctx_t ctx;
  shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx);
  if (shmem_my_pe() == 0) {
    const long from[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    shmem_ctx_long_put_nbi(ctx, data, from, 8, 1);
    shmem_ctx_fence(ctx);
    shmem_ctx_int_p(ctx, &flag, 1, 1);
    shmem_ctx_quiet(ctx);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    wrong = data[7] != 1;
  }
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return wrong;
}
