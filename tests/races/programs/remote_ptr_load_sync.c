/* races: none; class: remote; pes: 2 */
/* PE 1 stores into its own memory, and behind shmem_sync_all PE 0 reads it by the pointer of shmem_ptr. */
#include <shmem.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int* array = shmem_calloc(4, sizeof(int));
  if (array == NULL) shmem_global_exit(1);
  const int* theirs = shmem_ptr(array, 1);
  if (me == 1) array[3] = 8;
  shmem_sync_all();
  const int wrong = me == 0 && theirs != NULL && theirs[3] != 8;
  shmem_free(array);
  shmem_finalize();
  return wrong;
}
