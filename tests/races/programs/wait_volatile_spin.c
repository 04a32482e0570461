/* races: always; class: wait; pes: 2 */
/* PE 1 waits in a loop of its own: volatile makes the loads of the flag neither atomic nor ordered. */
#include <shmem.h>
#include <unistd.h>

static volatile int flag;

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_int_atomic_set((int*)&flag, 1, 1);  // race 1
    shmem_quiet();
  } else {
    for (int turn = 0; turn < 100; ++turn) {
      if (flag != 0) break;  // race 2
      usleep(100);
    }
  }
  shmem_finalize();
  return 0;
}
