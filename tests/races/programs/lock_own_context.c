/* races: always; class: lock; pes: 2 */
/* shmem_clear_lock completes the default context only, and the put has gone out on another one. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  shmem_set_lock(&lock);
  const long old = shmem_ctx_long_g(context, &balance, 0);  // race 1
  shmem_ctx_long_p(context, &balance, old + 1, 0);          // race 2
  shmem_clear_lock(&lock);
  shmem_ctx_quiet(context);
  shmem_ctx_destroy(context);
  shmem_finalize();
  return 0;
}
