/* races: none; class: lock; pes: 2 */
/* Two words with a lock each. Both PEs take the lock that belongs to the word. */
#include <shmem.h>

static long locks[2];
static long balances[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 4; ++i) {
    const int word = (me + i) % 2;
    shmem_set_lock(&locks[word]);
    shmem_long_p(&balances[word], shmem_long_g(&balances[word], 1) + 1, 1);
    shmem_clear_lock(&locks[word]);
  }
  shmem_barrier_all();
  const int wrong = me == 1 && (balances[0] != 4 || balances[1] != 4);
  shmem_finalize();
  return wrong;
}
