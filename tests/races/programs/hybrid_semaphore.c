/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* The main thread fills the source and posts a semaphore, for which the sending thread waits. */
#include <pthread.h>
#include <semaphore.h>
#include <shmem.h>

static sem_t filled;
static long source, dest;

static void* send(void* unused) {
  while (sem_wait(&filled) != 0) continue;
  shmem_long_put(&dest, &source, 1, 1 - shmem_my_pe());
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  sem_init(&filled, 0, 0);
  pthread_t thread;
  if (pthread_create(&thread, NULL, send, NULL) != 0) shmem_global_exit(1);
  source = 7;
  sem_post(&filled);
  pthread_join(thread, NULL);
  shmem_barrier_all();
  const int wrong = dest != 7;
  shmem_finalize();
  return wrong;
}
