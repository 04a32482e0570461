/* races: none; class: context; pes: 2 */
/* shmem_ctx_destroy completes what the context has under way, for the target and for the source. */
#include <shmem.h>

static long dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long source[2] = {1, 2};
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  if (me == 0) shmem_ctx_long_put_nbi(context, dest, source, 2, 1);
  shmem_ctx_destroy(context);
  source[1] = 9;
  shmem_sync_all();
  const int wrong = source[1] != 9 || (me == 1 && dest[1] != 2);
  shmem_finalize();
  return wrong;
}
