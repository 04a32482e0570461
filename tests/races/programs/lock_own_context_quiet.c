/* races: none; class: lock; pes: 2 */
/* The put of the critical section is of an own context, and its quiet stands before shmem_clear_lock. */
#include <shmem.h>

static long lock;
static long balance;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  shmem_set_lock(&lock);
  const long old = shmem_ctx_long_g(context, &balance, 0);
  shmem_ctx_long_p(context, &balance, old + 1, 0);
  shmem_ctx_quiet(context);
  shmem_clear_lock(&lock);
  shmem_ctx_destroy(context);
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 0 && balance != 2;
  shmem_finalize();
  return wrong;
}
