/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* Two threads fill the halves of the source. A barrier of the threads stands before the put of one of them. */
#include <pthread.h>
#include <shmem.h>

static pthread_barrier_t both;
static int source[8], dest[8];

static void* fill(void* first) {
  int* half = first;
  for (int i = 0; i < 4; ++i) half[i] = 1;
  pthread_barrier_wait(&both);
  if (half == source) shmem_int_put(dest, source, 8, 1 - shmem_my_pe());
  return NULL;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_barrier_init(&both, NULL, 2);
  pthread_t thread;
  if (pthread_create(&thread, NULL, fill, source) != 0) shmem_global_exit(1);
  fill(source + 4);
  pthread_join(thread, NULL);
  shmem_barrier_all();
  const int wrong = dest[7] != 1;
  shmem_finalize();
  return wrong;
}
