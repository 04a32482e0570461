/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* Two threads of a PE change a symmetric word, each under a mutex of its own. */
#include <pthread.h>
#include <shmem.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long total;

static void* count(void* mutex) {
  pthread_mutex_lock(mutex);
  total += 1;  // race 1 and 2
  pthread_mutex_unlock(mutex);
  return NULL;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, count, &mutexes[0]) != 0) shmem_global_exit(1);
  count(&mutexes[1]);
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
