/* What a test of SHMEM_STATS and SHMEM_TRACE observes: each PE makes calls whose numbers and sizes are known.
   observed [CASE]: crash, kill: the last PE dies in the middle; threads: two threads of each PE put; lives: the library
   is started twice. */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long words[64];
static long target;
static uint64_t signals;

static void put_and_get(long* heap, char* block, int next) {
  static char local[1000];
  for (int i = 0; i < 10; i++) shmem_long_p(heap + i, i, next);
  shmem_putmem(block, local, 1000, next);
  shmem_long_put_nbi(heap + 10, words, 4, next);
  shmem_long_iput(heap + 20, words, 2, 1, 5, next);
  for (int i = 0; i < 3; i++) (void)shmem_long_g(heap + i, next);
  shmem_getmem(local, block, 500, next);
  shmem_long_atomic_inc(&target, 0);
  (void)shmem_long_atomic_fetch_add(&target, 1, next);
  shmem_long_put_signal(heap + 30, words, 4, &signals, 1, SHMEM_SIGNAL_SET, next);
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) == 0) {
    shmem_ctx_long_p(context, heap + 40, 1, next);
    shmem_ctx_destroy(context);
  }
}

static void exchange(int next, int previous) {
  char sent[100] = "message", got[100];
  if (shmem_my_pe() == 0) shmemx_send(sent, sizeof sent, next, 7);
  shmemx_recv(got, sizeof got, previous, 7, NULL);
  if (shmem_my_pe() != 0) shmemx_send(sent, sizeof sent, next, 7);
}

static void* put_from_thread(void* heap) {
  for (int i = 0; i < 200; i++) shmem_long_p((long*)heap + 50, i, shmem_n_pes() - 1);
  return NULL;
}

static void put_from_two_threads(long* heap) {
  pthread_t thread;
  pthread_create(&thread, NULL, put_from_thread, heap);
  put_from_thread(heap);
  pthread_join(thread, NULL);
}

static void live(const char* what) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const int me = shmem_my_pe(), n_pes = shmem_n_pes();
  const int next = (me + 1) % n_pes, previous = (me + n_pes - 1) % n_pes;
  long* const heap = shmem_calloc(64, sizeof(long));
  char* const block = shmem_malloc(1000);
  shmem_barrier_all();
  put_and_get(heap, block, next);
  shmem_signal_wait_until(&signals, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  if (n_pes > 1) exchange(next, previous);
  if (strcmp(what, "threads") == 0) put_from_two_threads(heap);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap, 2);
  shmem_barrier_all();
  if (strcmp(what, "crash") == 0 && me == n_pes - 1) abort();
  if (strcmp(what, "kill") == 0 && me == n_pes - 1) raise(SIGKILL);
  if (what[0] == 'c' || what[0] == 'k') shmem_barrier_all();
  shmem_free(block);
  shmem_free(heap);
  signals = 0;
  shmem_finalize();
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  live(what);
  if (strcmp(what, "lives") == 0) live(what);
  return 0;
}
