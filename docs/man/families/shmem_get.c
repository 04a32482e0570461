#include <shmem.h>

int main(void) {
  static int mine[2];
  int theirs[2], again[2];
  shmem_init();
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  mine[0] = me;
  mine[1] = -me;
  shmem_barrier_all(); /* everybody has written */
  shmem_int_get(theirs, mine, 2, next);
  shmem_int_get_nbi(again, mine, 2, next);
  shmem_quiet(); /* now `again` may be read */
  const int wrong = theirs[0] != next || again[1] != -next;
  shmem_finalize();
  return wrong;
}
