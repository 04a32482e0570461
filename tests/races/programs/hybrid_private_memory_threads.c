/* races: always; class: hybrid; pes: 1; flags: -pthread */
/* Memory of malloc that the first thread has filled before the second one begins; both then store to one byte. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>

static char* text;

static void* store(void* unused) {
  text[10] = 'b';  // race 1
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  text = malloc(64);
  for (int i = 0; i < 64; ++i) text[i] = 'a';
  pthread_t thread;
  pthread_create(&thread, NULL, store, NULL);
  text[10] = 'c';  // race 2
  pthread_join(thread, NULL);
  free(text);
  shmem_finalize();
  return 0;
}
