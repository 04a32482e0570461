/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A relaxed C atomic orders nothing between the get of the thread and the load of the main thread. */
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>

static atomic_int done;
static long source = 4;
static long result;

static void* fetch(void* unused) {
  shmem_long_get(&result, &source, 1, 1 - shmem_my_pe());  // race 1
  atomic_store_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, fetch, NULL) != 0) shmem_global_exit(1);
  while (atomic_load_explicit(&done, memory_order_relaxed) == 0) continue;
  const long seen = result;  // race 2
  pthread_join(thread, NULL);
  shmem_finalize();
  return seen < 0;
}
