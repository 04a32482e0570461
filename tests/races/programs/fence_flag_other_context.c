/* races: always; class: fence; pes: 2 */
/* The data and the fence are of one context, the flag is of another one: a fence orders within its context. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_ctx_long_p(context, &data, 5, 1);  // race 1
    shmem_ctx_fence(context);
    shmem_long_atomic_set(&flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    seen = data;  // race 2
  }
  shmem_ctx_destroy(context);
  shmem_finalize();
  return seen < 0;
}
