/* races: none; class: memory; pes: 2 */
/* A block of malloc is the source of a non-blocking put; after the quiet it is freed, and the next one filled. */
#include <shmem.h>
#include <stdlib.h>

static int dest[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int turn = 0; turn < 4; ++turn) {
    int* source = malloc(4 * sizeof(int));
    if (source == NULL) shmem_global_exit(1);
    for (int i = 0; i < 4; ++i) source[i] = turn;
    if (me == 0) shmem_int_put_nbi(dest, source, 4, 1);
    shmem_quiet();
    free(source);
  }
  shmem_barrier_all();
  const int wrong = me == 1 && dest[3] != 3;
  shmem_finalize();
  return wrong;
}
