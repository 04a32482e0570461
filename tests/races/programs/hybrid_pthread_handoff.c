/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread waits for a signal and hands the data by a condition variable to the main thread. */
#include <pthread.h>
#include <shmem.h>

static uint64_t signal;
static long data[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void* wait_for_it(void* unused) {
  shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
  pthread_mutex_lock(&mutex);
  is_ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    const long from[4] = {1, 2, 3, 4};
    shmem_long_put_signal(data, from, 4, &signal, 1, SHMEM_SIGNAL_SET, 1);
  } else {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    pthread_mutex_lock(&mutex);
    while (!is_ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    wrong = data[3] != 4;
    pthread_join(thread, NULL);
  }
  shmem_finalize();
  return wrong;
}
