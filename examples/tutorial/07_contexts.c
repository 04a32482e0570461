/* Step 7: threads and contexts. Two threads of each PE write to the right neighbour, each through a context of its
 * own, and complete their own puts only.
 *
 * Usage: oshrun -n 4 ./07_contexts
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

enum { kThreads = 2, kCount = 1000 };

static int values[kThreads][kCount];

static void *write_part(void *part) {
  const int thread = *(const int *)part;
  const int me = shmem_my_pe();
  const int right = (me + 1) % shmem_n_pes();

  /* Private: only this thread uses it, so the library needs no lock for it. */
  shmem_ctx_t ctx;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) shmem_global_exit(1);
  for (int i = 0; i < kCount; ++i) shmem_ctx_int_p(ctx, &values[thread][i], 1000 * me + i, right);
  shmem_ctx_quiet(ctx); /* completes the puts of this context, and does not wait for those of others */
  shmem_ctx_destroy(ctx);
  return NULL;
}

int main(void) {
  int provided = 0;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE) return 1;
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  pthread_t threads[kThreads];
  int parts[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    parts[t] = t;
    if (pthread_create(&threads[t], NULL, write_part, &parts[t]) != 0) shmem_global_exit(1);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  shmem_barrier_all();

  const int left = (me + pe_count - 1) % pe_count;
  int wrong = 0;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kCount; ++i) {
      if (values[t][i] != 1000 * left + i) wrong = 1;
    }
  }
  printf("PE %d: %d threads of PE %d have written %d values each%s\n", me, kThreads, left, kCount,
         wrong ? ": WRONG" : "");
  shmem_finalize();
  return wrong;
}
