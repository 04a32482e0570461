/* races: none; class: memory; pes: 2 */
/* Blocks are freed and allocated again in turn: what was done to the old block cannot race with the new one. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  for (int turn = 0; turn < 6; ++turn) {
    int* block = shmem_malloc(16 * sizeof(int));
    if (block == NULL) shmem_global_exit(1);
    if (turn % 2 == me)
      shmem_int_p(&block[2], turn, 1 - me);
    else
      block[3] = turn;
    shmem_barrier_all();
    if (turn % 2 != me) wrong |= block[2] != block[3];
    shmem_free(block);
  }
  shmem_finalize();
  return wrong;
}
