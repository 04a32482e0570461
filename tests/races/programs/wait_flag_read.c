/* races: none; class: wait; pes: 2 */
/* Behind the wait the flag itself may be read and cleared by the PE that owns it, until the other one sets it again. */
#include <shmem.h>

static long flag;
static long answer;

int main(void) {
  shmem_init();
  int wrong = 0;
  for (long turn = 1; turn <= 3; ++turn) {
    if (shmem_my_pe() == 0) {
      shmem_long_atomic_set(&flag, turn, 1);
      shmem_long_wait_until(&answer, SHMEM_CMP_EQ, turn);
    } else {
      shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
      wrong |= flag != turn;
      flag = 0;
      shmem_quiet();
      shmem_long_atomic_set(&answer, turn, 0);
    }
  }
  shmem_finalize();
  return wrong;
}
