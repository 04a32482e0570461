/* races: none; class: context; pes: 2 */
/* Puts of two contexts to one word. The quiet of the first one stands between. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_ctx_t first, second;
  if (shmem_ctx_create(0, &first) != 0 || shmem_ctx_create(0, &second) != 0) shmem_global_exit(1);
  if (me == 0) {
    shmem_ctx_long_p(first, &word, 1, 1);
    shmem_ctx_quiet(first);
    shmem_ctx_long_p(second, &word, 2, 1);
  }
  shmem_ctx_destroy(first);
  shmem_ctx_destroy(second);
  shmem_barrier_all();
  const int wrong = me == 1 && word != 2;
  shmem_finalize();
  return wrong;
}
