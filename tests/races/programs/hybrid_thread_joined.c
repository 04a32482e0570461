/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread puts from a buffer, which the main thread has filled before and changes after pthread_join. */
#include <pthread.h>
#include <shmem.h>

static long dest[4];
static long source[4];

static void* send(void* unused) {
  shmem_long_put(dest, source, 4, 1);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const int me = shmem_my_pe();
  if (me == 0) {
    pthread_t thread;
    source[2] = 5;
    if (pthread_create(&thread, NULL, send, NULL) != 0) shmem_global_exit(1);
    pthread_join(thread, NULL);
    source[2] = 6;
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[2] != 5;
  shmem_finalize();
  return wrong;
}
