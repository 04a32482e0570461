/* races: always; class: context; pes: 2 */
/* The context is destroyed behind the synchronisation, too late for PE 1. */
#include <shmem.h>

static long dest[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long source[2] = {1, 2};
  long seen = 0;
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  if (me == 0) shmem_ctx_long_put(context, dest, source, 2, 1);  // race 1
  shmem_sync_all();
  if (me == 1) seen = dest[1];  // race 2
  shmem_ctx_destroy(context);
  shmem_finalize();
  return seen < 0;
}
