/* races: none; class: fence; pes: 2 */
/* shmem_fence also orders stores by the pointer of shmem_ptr before the flag. */
#include <shmem.h>

int main(void) {
  shmem_init();
  long* data = shmem_calloc(2, sizeof(long));
  if (data == NULL) shmem_global_exit(1);
  long* flag = data + 1;
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    long* theirs = shmem_ptr(data, 1);
    if (theirs != NULL)
      *theirs = 5;
    else
      shmem_long_p(data, 5, 1);
    shmem_fence();
    shmem_long_atomic_set(flag, 1, 1);
  } else {
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
    wrong = *data != 5;
  }
  shmem_free(data);
  shmem_finalize();
  return wrong;
}
