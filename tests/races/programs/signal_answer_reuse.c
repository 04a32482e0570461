/* races: none; class: signal; pes: 2 */
/* Two buffers in turn: the sender refills one only when the receiver's own signal says that it has read it. */
#include <shmem.h>

static uint64_t full;
static uint64_t empty;
static int box[2][8];

int main(void) {
  shmem_init();
  int wrong = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    if (shmem_my_pe() == 0) {
      int from[8];
      for (int k = 0; k < 8; ++k) from[k] = (int)i + k;
      if (i >= 2) shmem_signal_wait_until(&empty, SHMEM_CMP_GE, i - 1);
      shmem_int_put_signal(box[i % 2], from, 8, &full, i + 1, SHMEM_SIGNAL_SET, 1);
    } else {
      shmem_signal_wait_until(&full, SHMEM_CMP_GE, i + 1);
      for (int k = 0; k < 8; ++k) wrong |= box[i % 2][k] != (int)i + k;
      shmem_uint64_atomic_set(&empty, i + 1, 0);
    }
  }
  shmem_finalize();
  return wrong;
}
