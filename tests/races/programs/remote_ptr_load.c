/* races: always; class: remote; pes: 3 */
/* PE 0 reads the memory of PE 1 by the pointer of shmem_ptr, while PE 2 puts to it. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int* array = shmem_calloc(4, sizeof(int));
  if (array == NULL) shmem_global_exit(1);
  const int* theirs = shmem_ptr(array, 1);
  int seen = 0;
  if (me == 0 && theirs != NULL) seen = theirs[3];  // race 1
  if (me == 2) shmem_int_p(array + 3, 8, 1);        // race 2
  shmem_free(array);
  shmem_finalize();
  return seen < 0;
}
