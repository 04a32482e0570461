/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A thread waits for the signal, and the main thread reads the data before it has joined that thread. */
#include <pthread.h>
#include <shmem.h>

static uint64_t ready;
static long data;

static void* wait_for_data(void* unused) {
  shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  const long value = 3;
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_put_signal(&data, &value, 1, &ready, 1, SHMEM_SIGNAL_SET, 1);  // race 1
  } else {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_data, NULL) != 0) shmem_global_exit(1);
    seen = data;  // race 2
    pthread_join(thread, NULL);
  }
  shmem_finalize();
  return seen < 0;
}
