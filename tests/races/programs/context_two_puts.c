/* races: always; class: context; pes: 2 */
/* Puts of two contexts to one word. The fence of either context does not order them. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  shmem_ctx_t first, second;
  if (shmem_ctx_create(0, &first) != 0 || shmem_ctx_create(0, &second) != 0) shmem_global_exit(1);
  if (shmem_my_pe() == 0) {
    shmem_ctx_long_p(first, &word, 1, 1);  // race 1
    shmem_ctx_fence(first);
    shmem_ctx_fence(second);
    shmem_ctx_long_p(second, &word, 2, 1);  // race 2
  }
  shmem_ctx_destroy(first);
  shmem_ctx_destroy(second);
  shmem_finalize();
  return 0;
}
