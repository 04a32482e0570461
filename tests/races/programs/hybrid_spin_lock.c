/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* Two threads add to a word under a spin lock of pthreads. */
#include <pthread.h>
#include <shmem.h>

static long word;
static pthread_spinlock_t lock;

static void* child(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_spin_lock(&lock);
    ++word;
    pthread_spin_unlock(&lock);
  }
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_t thread;
  pthread_create(&thread, NULL, child, NULL);
  child(NULL);
  pthread_join(thread, NULL);
  wrong = word != 200;
  shmem_finalize();
  return wrong;
}
