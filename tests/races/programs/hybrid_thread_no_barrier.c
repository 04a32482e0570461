/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* Two threads fill the halves of the source, and one of them puts both halves without waiting for the other. */
#include <pthread.h>
#include <shmem.h>

static int source[8], dest[8];

static void* fill(void* first) {
  int* half = first;
  for (int i = 0; i < 4; ++i) half[i] = 1;                                // race 1
  if (half == source) shmem_int_put(dest, source, 8, 1 - shmem_my_pe());  // race 2
  return NULL;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, fill, source) != 0) shmem_global_exit(1);
  fill(source + 4);
  pthread_join(thread, NULL);
  shmem_finalize();
  return 0;
}
