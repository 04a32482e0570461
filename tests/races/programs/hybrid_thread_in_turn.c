/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread puts what the first one has stored, joins, and the first one goes on with the same memory. */
#include <pthread.h>
#include <shmem.h>

static long source[32];
static long dest[32];

static void* put(void* unused) {
  shmem_long_put(dest, source, 32, 1 - shmem_my_pe());
  source[0] = 5;
  shmem_quiet();
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  int wrong = 0;
  for (int k = 1; k < 4; ++k) {
    for (int i = 0; i < 32; ++i) source[i] = i * k;
    pthread_t thread;
    pthread_create(&thread, NULL, put, NULL);
    pthread_join(thread, NULL);
    wrong |= source[0] != 5;
    shmem_barrier_all();
    wrong |= dest[31] != 31 * k;
    shmem_sync_all();
  }
  shmem_finalize();
  return wrong;
}
