/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* A writer and a reader that tries a read-write lock until it has it. */
#include <pthread.h>
#include <shmem.h>

static long word;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* child(void* unused) {
  pthread_rwlock_wrlock(&lock);
  word += 7;
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, child, NULL);
  for (long seen = 0; seen != 7;) {
    if (pthread_rwlock_tryrdlock(&lock) != 0) continue;
    seen = word;
    pthread_rwlock_unlock(&lock);
  }
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
