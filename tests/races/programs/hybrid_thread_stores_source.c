/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A thread puts from a buffer while the main thread stores to it. */
#include <pthread.h>
#include <shmem.h>

static long dest[4];
static long source[4];

static void* send(void* unused) {
  shmem_long_put(dest, source, 4, 1);  // race 1
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (shmem_my_pe() == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, send, NULL) != 0) shmem_global_exit(1);
    source[2] = 5;  // race 2
    pthread_join(thread, NULL);
  }
  shmem_finalize();
  return 0;
}
