/* races: none; class: quiet; pes: 3 */
/* PE 0 puts to PE 2 and completes it, PE 1 hears of it and sets the word of PE 2: the order holds over the PE between
 * them. */
#include <shmem.h>

static long data;
static long heard;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me == 0) {
    shmem_long_p(&data, 7, 2);
    shmem_quiet();
    shmem_long_atomic_set(&heard, 1, 1);
  } else {
    shmem_long_wait_until(&heard, SHMEM_CMP_EQ, 1);
    if (me == 1) shmem_long_atomic_set(&heard, 1, 2);
    if (me == 2) wrong = data != 7;
  }
  shmem_finalize();
  return wrong;
}
