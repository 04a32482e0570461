/* races: always; class: local; pes: 2 */
/* The destination of a non-blocking get is stored to before shmem_quiet. */
#include <shmem.h>
#include <stdlib.h>

static int source[16];

int main(void) {
  shmem_init();
  int* result = malloc(sizeof source);
  if (result == NULL) shmem_global_exit(1);
  if (shmem_my_pe() == 0) {
    shmem_int_get_nbi(result, source, 16, 1);  // race 1
    result[8] = 3;                             // race 2
    shmem_quiet();
  }
  shmem_finalize();
  free(result);
  return 0;
}
