#include <shmem.h>

int main(void) {
  static int value = 0;
  shmem_init();
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  int* there = shmem_ptr(&value, next);
  if (there != NULL)
    *there = me + 1; /* a plain store */
  else
    shmem_int_p(&value, me + 1, next);
  shmem_barrier_all();
  const int wrong = value == 0 || !shmem_addr_accessible(&value, next);
  shmem_finalize();
  return wrong;
}
