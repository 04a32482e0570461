/* races: none; class: context; pes: 3 */
/* Two contexts fetch at the same time into two buffers, and each buffer is read behind the quiet of its context. */
#include <shmem.h>

static int source[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  source[3] = me;
  shmem_barrier_all();
  shmem_ctx_t contexts[2];
  int buffers[2][4] = {{0}};
  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    if (shmem_ctx_create(0, &contexts[i]) != 0) shmem_global_exit(1);
    shmem_ctx_int_get_nbi(contexts[i], buffers[i], source, 4, i);
  }
  for (int i = 0; i < 2; ++i) {
    shmem_ctx_quiet(contexts[i]);
    wrong |= buffers[i][3] != i;
    shmem_ctx_destroy(contexts[i]);
  }
  shmem_finalize();
  return wrong;
}
