/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* The first thread has used a row for long, when a second one begins and stores to what the first one stores, too. */
#include <pthread.h>
#include <shmem.h>

static long row[64];

static void* store(void* unused) {
  for (int i = 0; i < 64; ++i) row[i] = i;  // race 1
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 64; ++i) row[i] += k;
  pthread_t thread;
  pthread_create(&thread, NULL, store, NULL);
  row[40] = 1;  // race 2
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
