/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* A thread sends a byte by a pair of sockets, which says that the word is there. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>
#include <sys/socket.h>

static long word;
static int ends[2];

static void* child(void* unused) {
  word = 7;
  if (send(ends[1], "x", 1, 0) != 1) abort();
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
  pthread_t thread;
  char byte;
  pthread_create(&thread, NULL, child, NULL);
  if (recv(ends[0], &byte, 1, 0) != 1) abort();
  wrong = word != 7;
  pthread_join(thread, NULL);
  shmem_finalize();
  return wrong;
}
