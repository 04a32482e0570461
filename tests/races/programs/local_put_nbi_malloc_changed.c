/* races: always; class: local; pes: 2 */
/* memset clears the source of a non-blocking put, a block of malloc, before shmem_quiet. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static char dest[256];

int main(void) {
  shmem_init();
  char* source = malloc(256);
  if (source == NULL) shmem_global_exit(1);
  memset(source, 7, 256);
  if (shmem_my_pe() == 0) {
    shmem_putmem_nbi(dest, source, 256, 1);  // race 1
    memset(source, 0, 256);                  // race 2
    shmem_quiet();
  }
  shmem_finalize();
  free(source);
  return 0;
}
