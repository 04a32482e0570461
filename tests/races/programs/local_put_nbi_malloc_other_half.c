/* races: none; class: local; pes: 2 */
/* memset clears the half of a block that the non-blocking put does not send. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static char dest[256];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  char* source = malloc(512);
  if (source == NULL) shmem_global_exit(1);
  memset(source, 7, 512);
  if (me == 0) {
    shmem_putmem_nbi(dest, source, 256, 1);
    memset(source + 256, 0, 256);
    shmem_quiet();
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[255] != 7;
  shmem_finalize();
  free(source);
  return wrong;
}
