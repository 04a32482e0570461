/* races: always; class: memory; pes: 2 */
/* The barrier in shmem_malloc completes the default context only. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  if (me == 0) shmem_ctx_long_p(context, &word, 5, 1);  // race 1
  long* block = shmem_malloc(64);
  if (me == 1) word = 6;  // race 2
  shmem_free(block);
  shmem_ctx_destroy(context);
  shmem_finalize();
  return 0;
}
