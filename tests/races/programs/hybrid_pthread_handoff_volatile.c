/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A thread waits for a signal and says so to the main thread by a volatile word, which orders nothing. */
#include <pthread.h>
#include <sched.h>
#include <shmem.h>

static uint64_t signal;
static volatile int is_ready;

static void* wait_for_it(void* unused) {
  shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
  is_ready = 1;  // race 1
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (shmem_my_pe() == 0) {
    shmem_uint64_atomic_set(&signal, 1, 1);
  } else {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    while (!is_ready) sched_yield();  // race 2
    pthread_join(thread, NULL);
  }
  shmem_finalize();
  return 0;
}
