#include <shmem.h>

int main(void) {
  static int owner = -1; /* on PE 0: the first to come */
  shmem_init();
  const int me = shmem_my_pe();
  const int before = shmem_int_atomic_compare_swap(&owner, -1, me, 0);
  const int winner = before == -1 ? me : before;
  const int wrong = winner != shmem_int_atomic_fetch(&owner, 0);
  shmem_finalize();
  return wrong;
}
