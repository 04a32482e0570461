/* races: none; class: quiet; pes: 2 */
/* shmem_ctx_quiet completes the put of its context before the barrier. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  if (me == 0) shmem_ctx_long_p(context, &word, 5, 1);
  shmem_ctx_quiet(context);
  shmem_barrier_all();
  const int wrong = me == 1 && word != 5;
  shmem_ctx_destroy(context);
  shmem_finalize();
  return wrong;
}
