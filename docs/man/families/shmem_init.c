#include <shmem.h>
#include <stdio.h>

int main(void) {
  int provided = 0, initialized = 0;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) return 1;
  if (provided < SHMEM_THREAD_MULTIPLE) printf("only level %d\n", provided);
  shmem_finalize();
  shmem_query_initialized(&initialized);
  return initialized != 0;
}
