/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread gets the data and releases a C atomic, which the main thread acquires. */
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>

static atomic_int done;
static long source = 4;
static long result;

static void* fetch(void* unused) {
  shmem_long_get(&result, &source, 1, 1 - shmem_my_pe());
  atomic_store_explicit(&done, 1, memory_order_release);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, fetch, NULL) != 0) shmem_global_exit(1);
  while (atomic_load_explicit(&done, memory_order_acquire) == 0) continue;
  const int wrong = result != 4;
  pthread_join(thread, NULL);
  shmem_finalize();
  return wrong;
}
