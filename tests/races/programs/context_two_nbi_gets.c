/* races: always; class: context; pes: 2 */
/* Two nonblocking gets on two contexts; the quiet of one does not complete the other. */
#include <shmem.h>

static long source = 4;

int main(void) {
  shmem_init();
  shmem_ctx_t a, b;
  shmem_ctx_create(0, &a);
  shmem_ctx_create(SHMEM_CTX_SERIALIZED, &b);
  long x = 0, y = 0;
  shmem_ctx_long_get_nbi(a, &x, &source, 1, 1 - shmem_my_pe());
  shmem_ctx_long_get_nbi(b, &y, &source, 1, 1 - shmem_my_pe());  // race 1
  shmem_ctx_quiet(a);
  const long sum = x + y;  // race 2
  shmem_ctx_quiet(b);
  shmem_ctx_destroy(b);
  shmem_ctx_destroy(a);
  shmem_finalize();
  return sum > 8;
}
