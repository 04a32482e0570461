/* races: none; class: hybrid; pes: 2; flags: -fopenmp */
/* Each OpenMP thread has a private context, puts to its own row, and quiets it before the barrier of the PEs. */
#include <shmem.h>

static long rows[4][16];

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const int other = 1 - shmem_my_pe();
#pragma omp parallel for num_threads(4)
  for (int t = 0; t < 4; ++t) {
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) continue;
    long from[16];
    for (int i = 0; i < 16; ++i) from[i] = t * 100 + i;
    shmem_ctx_long_put_nbi(ctx, rows[t], from, 16, other);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
  }
  shmem_barrier_all();
  int wrong = 0;
  for (int t = 0; t < 4; ++t) wrong |= rows[t][15] != t * 100 + 15;
  shmem_finalize();
  return wrong;
}
