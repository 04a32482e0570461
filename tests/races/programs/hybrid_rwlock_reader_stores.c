/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* Two threads store while they hold the lock as readers. */
#include <pthread.h>
#include <shmem.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long count;
static void* work(void* a) {
  (void)a;
  pthread_rwlock_rdlock(&lock);
  count++;  // race 1 and 2
  pthread_rwlock_unlock(&lock);
  return NULL;
}
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &p);
  pthread_t t[2];
  for (int i = 0; i < 2; ++i) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], NULL);
  shmem_finalize();
  return 0;
}
