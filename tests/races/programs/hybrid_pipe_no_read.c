/* races: always; class: hybrid; pes: 1; flags: -pthread */
/* A thread writes to a pipe after its store, and the other one does not read before its load. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>

static long word;
static int ends[2];

static void* child(void* unused) {
  word = 7;  // race 1
  if (write(ends[1], "x", 1) != 1) abort();
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (pipe(ends) != 0) abort();
  pthread_t thread;
  char byte;
  pthread_create(&thread, NULL, child, NULL);
  const long early = word;  // race 2
  if (read(ends[0], &byte, 1) != 1) abort();
  wrong = early > 7;
  pthread_join(thread, NULL);
  shmem_finalize();
  return wrong;
}
