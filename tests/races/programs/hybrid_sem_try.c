/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* A semaphore that is tried, and one with a time limit. */
#include <pthread.h>
#include <semaphore.h>
#include <shmem.h>
#include <stdlib.h>
#include <threads.h>

static long word;
static sem_t there;
static sem_t taken;

static void* child(void* unused) {
  word = 7;
  sem_post(&there);
  struct timespec limit = {.tv_sec = 4000000000};
  if (sem_timedwait(&taken, &limit) != 0) abort();
  word = 8;
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  sem_init(&there, 0, 0);
  sem_init(&taken, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, child, NULL);
  while (sem_trywait(&there) != 0) thrd_yield();
  wrong = word != 7;
  sem_post(&taken);
  pthread_join(thread, NULL);
  wrong |= word != 8;
  shmem_finalize();
  return wrong;
}
