/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* pthread_once stores for both threads. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>

static long word;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void) { word = 7; }

static void* child(void* unused) {
  pthread_once(&once, fill);
  if (word != 7) abort();
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, child, NULL);
  child(NULL);
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
