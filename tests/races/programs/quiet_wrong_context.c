/* races: always; class: quiet; pes: 2 */
/* The non-blocking put is of one context, the quiet of another one. */
#include <shmem.h>

static long source[2] = {1, 2};
static long dest[2];

int main(void) {
  shmem_init();
  shmem_ctx_t first, second;
  if (shmem_ctx_create(0, &first) != 0 || shmem_ctx_create(0, &second) != 0) shmem_global_exit(1);
  if (shmem_my_pe() == 0) {
    shmem_ctx_long_put_nbi(first, dest, source, 2, 1);  // race 1
    shmem_ctx_quiet(second);
    source[0] = 3;  // race 2
  }
  shmem_ctx_destroy(first);
  shmem_ctx_destroy(second);
  shmem_finalize();
  return 0;
}
