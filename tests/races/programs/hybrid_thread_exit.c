/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* A thread ends by pthread_exit, another one is cancelled: what they have stored is known after pthread_join. */
#include <pthread.h>
#include <shmem.h>
#include <unistd.h>

static long source[2], dest[2];
static int is_stored;

static void* leave(void* unused) {
  source[0] = 3;
  pthread_exit(unused);
}

static void* stay(void* unused) {
  source[1] = 4;
  __atomic_store_n(&is_stored, 1, __ATOMIC_RELAXED);
  for (;;) pause();
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
  pthread_t first, second;
  if (pthread_create(&first, NULL, leave, NULL) != 0) shmem_global_exit(1);
  if (pthread_create(&second, NULL, stay, NULL) != 0) shmem_global_exit(1);
  while (!__atomic_load_n(&is_stored, __ATOMIC_RELAXED)) usleep(100);
  pthread_cancel(second);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  shmem_long_put(dest, source, 2, 1 - shmem_my_pe());
  shmem_barrier_all();
  const int wrong = dest[0] != 3 || dest[1] != 4;
  shmem_finalize();
  return wrong;
}
