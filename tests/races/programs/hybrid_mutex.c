/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* Two threads of a PE change a symmetric word under a mutex; behind the join the neighbour gets it. */
#include <pthread.h>
#include <shmem.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void* count(void* unused) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    total += 1;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, count, NULL) != 0) shmem_global_exit(1);
  count(NULL);
  pthread_join(thread, NULL);
  shmem_barrier_all();
  const int wrong = shmem_long_g(&total, 1 - shmem_my_pe()) != 20;
  shmem_finalize();
  return wrong;
}
