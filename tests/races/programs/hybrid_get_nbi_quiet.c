/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread starts a non-blocking get. Behind the join the main thread's quiet completes it: they share the context. */
#include <pthread.h>
#include <shmem.h>

static long source[4] = {6, 7, 8, 9};
static long result[4];

static void* fetch(void* unused) {
  shmem_long_get_nbi(result, source, 4, 1);
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (shmem_my_pe() == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, fetch, NULL) != 0) shmem_global_exit(1);
    pthread_join(thread, NULL);
    shmem_quiet();
    wrong = result[3] != 9;
  }
  shmem_finalize();
  return wrong;
}
