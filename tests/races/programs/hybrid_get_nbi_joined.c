/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A thread starts a non-blocking get. pthread_join orders the threads, but it does not complete the get. */
#include <pthread.h>
#include <shmem.h>

static long source[4];
static long result[4];

static void* fetch(void* unused) {
  shmem_long_get_nbi(result, source, 4, 1);  // race 1
  return unused;
}

int main(void) {
  int provided;
  long seen = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (shmem_my_pe() == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, fetch, NULL) != 0) shmem_global_exit(1);
    pthread_join(thread, NULL);
    seen = result[0];  // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return seen < 0;
}
