/* races: always; class: lock; pes: 2 */
/* Each PE takes a lock, but not the same one. */
#include <shmem.h>

static long locks[2];
static long balance;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_set_lock(&locks[me]);
  shmem_long_p(&balance, me, 0);  // race 1 and 2
  shmem_clear_lock(&locks[me]);
  shmem_barrier_all();
  const int wrong = balance > 1;
  shmem_finalize();
  return wrong;
}
