/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A producer thread fills a buffer under mutex and condition; the main thread puts it to the other PE. */
#include <pthread.h>
#include <shmem.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static long buffer[8], box[8];
static void* produce(void* unused) {
  for (int turn = 1; turn <= 5; turn++) {
    pthread_mutex_lock(&m);
    while (ready) pthread_cond_wait(&c, &m);
    for (int i = 0; i < 8; i++) buffer[i] = turn * i;
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
  }
  return unused;
}
int main(void) {
  int provided, wrong = 0;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
  pthread_t t;
  pthread_create(&t, NULL, produce, NULL);
  for (int turn = 1; turn <= 5; turn++) {
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&c, &m);
    shmem_long_put(box, buffer, 8, 1 - shmem_my_pe());
    ready = 0;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    shmem_barrier_all();
    wrong |= box[7] != 7 * turn;
    shmem_barrier_all();
  }
  pthread_join(t, NULL);
  shmem_finalize();
  return wrong;
}
