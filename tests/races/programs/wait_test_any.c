/* races: none; class: wait; pes: 3 */
/* PE 0 reads the data of the flag whose index shmem_test_any has returned. */
#include <shmem.h>
#include <stdint.h>
#include <unistd.h>

static int flags[2];
static int data[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sum = 0;
  if (me > 0) {
    shmem_int_p(&data[me - 1], 5 * me, 0);
    shmem_fence();
    shmem_int_atomic_set(&flags[me - 1], 1, 0);
  } else {
    int done[2] = {0, 0};
    while (done[0] + done[1] < 2) {
      const size_t index = shmem_int_test_any(flags, 2, done, SHMEM_CMP_EQ, 1);
      if (index == SIZE_MAX) {
        usleep(50);
        continue;
      }
      sum += data[index];
      done[index] = 1;
    }
  }
  const int wrong = me == 0 && sum != 15;
  shmem_finalize();
  return wrong;
}
