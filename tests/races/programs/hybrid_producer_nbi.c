/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* The put is nonblocking, and the producer fills the buffer again before quiet. */
#include <pthread.h>
#include <shmem.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static long buffer[8], box[8];
static void* produce(void* unused) {
  for (int turn = 1; turn <= 2; turn++) {
    pthread_mutex_lock(&m);
    while (ready) pthread_cond_wait(&c, &m);
    for (int i = 0; i < 8; i++) buffer[i] = turn * i;  // race 1
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
  }
  return unused;
}
int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
  pthread_t t;
  pthread_create(&t, NULL, produce, NULL);
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&c, &m);
  shmem_long_put_nbi(box, buffer, 8, 1 - shmem_my_pe());  // race 2
  ready = 0;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  shmem_quiet();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
