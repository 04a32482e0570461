/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* Two threads of C11 add to the source under a mutex; the put comes after thrd_join. */
#include <shmem.h>
#include <threads.h>

static long source, dest;
static mtx_t mutex;

static int add(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  source += 3;
  mtx_unlock(&mutex);
  return 0;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
  mtx_init(&mutex, mtx_plain);
  thrd_t threads[2];
  for (int i = 0; i < 2; ++i)
    if (thrd_create(&threads[i], add, NULL) != thrd_success) shmem_global_exit(1);
  for (int i = 0; i < 2; ++i) thrd_join(threads[i], NULL);
  shmem_long_put(&dest, &source, 1, 1 - shmem_my_pe());
  shmem_barrier_all();
  const int wrong = dest != 6;
  shmem_finalize();
  return wrong;
}
