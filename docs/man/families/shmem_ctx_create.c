#include <shmem.h>

int main(void) {
  static long value = 0;
  shmem_init();
  shmem_ctx_t ctx;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) shmem_global_exit(1);
  shmem_ctx_long_p(ctx, &value, 7, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_ctx_quiet(ctx); /* of this context only */
  shmem_ctx_destroy(ctx);
  shmem_sync_all();
  const int wrong = value != 7;
  shmem_finalize();
  return wrong;
}
