/* races: none; class: lock; pes: 2 */
/* Non-blocking puts in a critical section: shmem_clear_lock completes them, for the next PE and for their source. */
#include <shmem.h>

static long lock;
static int table[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int mine[8];
  shmem_set_lock(&lock);
  shmem_int_get(mine, table, 8, 0);
  for (int i = 0; i < 8; ++i) mine[i] += 1 + me;
  shmem_int_put_nbi(table, mine, 8, 0);
  shmem_clear_lock(&lock);
  for (int i = 0; i < 8; ++i) mine[i] = 0;
  shmem_barrier_all();
  const int wrong = mine[0] != 0 || (me == 0 && table[7] != 3);
  shmem_finalize();
  return wrong;
}
