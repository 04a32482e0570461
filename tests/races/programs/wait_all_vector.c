/* races: none; class: wait; pes: 3 */
/* Each flag is waited for with the value that its PE sets last. */
#include <shmem.h>

static long flags[2];
static long data[2][2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int wrong = 0;
  if (me > 0) {
    for (long step = 0; step < me; ++step) {
      shmem_long_p(&data[me - 1][step], 5, 0);
      shmem_fence();
      shmem_long_atomic_set(&flags[me - 1], step + 1, 0);
      shmem_fence();
    }
  } else {
    const long last[2] = {1, 2};
    shmem_long_wait_until_all_vector(flags, 2, NULL, SHMEM_CMP_EQ, last);
    wrong = data[0][0] + data[1][0] + data[1][1] != 15;
  }
  shmem_finalize();
  return wrong;
}
