/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* Two threads of PE 0 put to one word of PE 1. */
#include <pthread.h>
#include <shmem.h>

static long word;

static void* send(void* number) {
  shmem_long_p(&word, *(const int*)number, 1);  // race 1 and 2
  shmem_quiet();
  return NULL;
}

int main(void) {
  int provided;
  int numbers[2] = {1, 2};
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (shmem_my_pe() == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, send, &numbers[0]) != 0) shmem_global_exit(1);
    send(&numbers[1]);
    pthread_join(thread, NULL);
  }
  shmem_finalize();
  return 0;
}
