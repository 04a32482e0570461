/* races: none; class: remote; pes: 2 */
/* PE 0 stores into the memory of PE 1 by the pointer of shmem_ptr. The barrier orders stores too. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* word = shmem_calloc(1, sizeof(long));
  if (word == NULL) shmem_global_exit(1);
  long* theirs = shmem_ptr(word, 1);
  if (me == 0 && theirs != NULL) *theirs = 4;
  shmem_barrier_all();
  const int wrong = me == 1 && *word != (theirs != NULL && shmem_ptr(word, 0) != NULL ? 4 : 0);
  shmem_free(word);
  shmem_finalize();
  return wrong;
}
