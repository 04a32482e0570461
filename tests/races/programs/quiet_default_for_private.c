/* races: always; class: quiet; pes: 2 */
/* shmem_quiet is the quiet of the default context: it does not complete the get of a private one. */
#include <shmem.h>

static long source;

int main(void) {
  shmem_init();
  shmem_ctx_t context;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0) shmem_global_exit(1);
  long value = 0;
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_ctx_long_get_nbi(context, &value, &source, 1, 1);  // race 1
    shmem_quiet();
    seen = value;  // race 2
  }
  shmem_ctx_destroy(context);
  shmem_finalize();
  return seen < 0;
}
