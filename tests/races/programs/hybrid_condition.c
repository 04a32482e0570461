/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread waits for the flag of the other PE and wakes the main thread by a condition variable. */
#include <pthread.h>
#include <shmem.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int arrived;
static uint64_t ready;
static long data;

static void* wait_for_data(void* unused) {
  shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  pthread_mutex_lock(&mutex);
  arrived = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const long value = 3;
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_data, NULL) != 0) shmem_global_exit(1);
  shmem_long_put_signal(&data, &value, 1, &ready, 1, SHMEM_SIGNAL_SET, 1 - shmem_my_pe());
  pthread_mutex_lock(&mutex);
  while (!arrived) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  const int wrong = data != 3;
  pthread_join(thread, NULL);
  shmem_finalize();
  return wrong;
}
