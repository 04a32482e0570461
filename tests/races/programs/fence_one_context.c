/* races: none; class: fence; pes: 2 */
/* Data, fence and flag are of one context. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_ctx_long_p(context, &data, 5, 1);
    shmem_ctx_fence(context);
    shmem_ctx_long_atomic_set(context, &flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    wrong = data != 5;
  }
  shmem_ctx_destroy(context);
  shmem_finalize();
  return wrong;
}
