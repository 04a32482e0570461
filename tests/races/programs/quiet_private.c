/* races: none; class: quiet; pes: 2 */
/* The quiet of a private context completes its gets. */
#include <shmem.h>

static long source = 3;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED, &context) != 0) shmem_global_exit(1);
  long value = 0;
  shmem_ctx_long_get_nbi(context, &value, &source, 1, 1);
  shmem_ctx_quiet(context);
  const int wrong = value != 3;
  shmem_ctx_destroy(context);
  shmem_finalize();
  return wrong;
}
