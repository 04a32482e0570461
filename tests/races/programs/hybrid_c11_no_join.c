/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A thread of C11 stores into the source while the main thread puts from it; thrd_join comes too late. */
#include <shmem.h>
#include <threads.h>

static long source, dest;

static int store(void* unused) {
  (void)unused;
  source = 3;  // race 2
  return 0;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
  thrd_t thread;
  if (thrd_create(&thread, store, NULL) != thrd_success) shmem_global_exit(1);
  shmem_long_put(&dest, &source, 1, 1 - shmem_my_pe());  // race 1
  thrd_join(thread, NULL);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
