/* races: always; class: signal; pes: 2 */
/* One buffer is refilled after an answer that the receiver gives before it has read the data. */
#include <shmem.h>

static uint64_t full;
static uint64_t empty;
static int box[8];

int main(void) {
  shmem_init();
  int sum = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    if (shmem_my_pe() == 0) {
      int from[8] = {(int)i};
      if (i >= 1) shmem_signal_wait_until(&empty, SHMEM_CMP_GE, i);
      shmem_int_put_signal(box, from, 8, &full, i + 1, SHMEM_SIGNAL_SET, 1);  // race 1
    } else {
      shmem_signal_wait_until(&full, SHMEM_CMP_GE, i + 1);
      shmem_uint64_atomic_set(&empty, i + 1, 0);
      for (int k = 0; k < 8; ++k) sum += box[k];  // race 2
    }
  }
  shmem_finalize();
  return sum < 0;
}
