/* races: always; class: quiet; pes: 2 */
/* A barrier completes the default context only, and the put has gone out on another one. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  if (me == 0) shmem_ctx_long_p(context, &word, 5, 1);  // race 1
  shmem_barrier_all();
  long seen = 0;
  if (me == 1) seen = word;  // race 2
  shmem_ctx_destroy(context);
  shmem_finalize();
  return seen < 0;
}
