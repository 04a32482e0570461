/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* Three threads: two store to one word between two barriers of threads, once. */
#include <pthread.h>
#include <shmem.h>
static pthread_barrier_t b;
long word, other;
static void* work(void* a) {
  long me = (long)a;
  pthread_barrier_wait(&b);
  if (me != 3)
    word = me;  // race 1 and 2
  else
    other = 1;
  pthread_barrier_wait(&b);
  return NULL;
}
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
  pthread_barrier_init(&b, NULL, 3);
  pthread_t t[2];
  pthread_create(&t[0], NULL, work, (void*)1);
  pthread_create(&t[1], NULL, work, (void*)3);
  work((void*)2);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], NULL);
  shmem_finalize();
  return 0;
}
