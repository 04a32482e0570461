/* races: none; class: hybrid; pes: 1; flags: -pthread */
/* A thread waits for an event descriptor, which says that the word is there. */
#include <pthread.h>
#include <shmem.h>
#include <sys/eventfd.h>

static long word;
static int event;

static void* child(void* unused) {
  word = 7;
  eventfd_write(event, 1);
  return unused;
}

int main(void) {
  int provided;
  int wrong = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  event = eventfd(0, 0);
  pthread_t thread;
  eventfd_t value;
  pthread_create(&thread, NULL, child, NULL);
  eventfd_read(event, &value);
  wrong = word != 7;
  pthread_join(thread, NULL);
  shmem_finalize();
  return wrong;
}
