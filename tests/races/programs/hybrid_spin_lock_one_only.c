/* races: always; class: hybrid; pes: 1; flags: -pthread */
/* One of two threads does not take the spin lock. */
#include <pthread.h>
#include <shmem.h>

static long word;
static pthread_spinlock_t lock;

static void* child(void* unused) {
  pthread_spin_lock(&lock);
  ++word;  // race 1
  pthread_spin_unlock(&lock);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_t thread;
  pthread_create(&thread, NULL, child, NULL);
  ++word;  // race 2
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
