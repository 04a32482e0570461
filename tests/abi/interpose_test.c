/* A tool may define its own shmem_x, which takes precedence, and call the library's through pshmem_x. */
#include <pshmem.h>
#include <shmem.h>

#include <stdio.h>

static int intercepted;

void shmem_query_initialized(int* initialized) {
  ++intercepted;
  pshmem_query_initialized(initialized); /* legal before shmem_init */
}

int main(void) {
  int initialized = -1;
  shmem_query_initialized(&initialized);
  if (intercepted != 1 || initialized != 0) {
    printf("intercepted %d times, initialized is %d\n", intercepted, initialized);
    return 1;
  }
  return 0;
}
