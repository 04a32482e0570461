/* races: none; class: quiet; pes: 2 */
/* Two contexts: the quiet of the first one is enough for the source of its put. */
#include <shmem.h>

static long source[2][2] = {{1, 2}, {3, 4}};
static long dest[2][2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_ctx_t first, second;
  if (shmem_ctx_create(0, &first) != 0 || shmem_ctx_create(0, &second) != 0) shmem_global_exit(1);
  if (me == 0) {
    shmem_ctx_long_put_nbi(first, dest[0], source[0], 2, 1);
    shmem_ctx_long_put_nbi(second, dest[1], source[1], 2, 1);
    shmem_ctx_quiet(first);
    source[0][0] = 9;
    shmem_ctx_quiet(second);
  }
  shmem_barrier_all();
  const int wrong = me == 1 && (dest[0][0] != 1 || dest[1][1] != 4);
  shmem_ctx_destroy(first);
  shmem_ctx_destroy(second);
  shmem_finalize();
  return wrong;
}
