/* races: always; class: remote; pes: 2 */
/* PE 0 stores into the memory of PE 1 by the pointer of shmem_ptr, while PE 1 reads it. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long* word = shmem_calloc(1, sizeof(long));
  if (word == NULL) shmem_global_exit(1);
  long* theirs = shmem_ptr(word, 1);
  long seen = 0;
  if (me == 0 && theirs != NULL) *theirs = 4;  // race 1
  if (me == 1) seen = *word;                   // race 2
  shmem_free(word);
  shmem_finalize();
  return seen < 0;
}
