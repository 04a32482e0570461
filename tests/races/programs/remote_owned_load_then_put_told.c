/* races: none; class: remote; pes: 2 */
/* The same, but the put waits until the count of the last load has come. */
#include <shmem.h>

static double row[512];
static long count;

int main(void) {
  shmem_init();
  double sum = 0;
  if (shmem_my_pe() == 1) {
    for (int k = 0; k < 20; ++k) {
      for (int i = 0; i < 512; ++i) sum += row[i];
      row[k] = k;
      shmem_long_atomic_inc(&count, 0);
    }
  } else {
    shmem_long_wait_until(&count, SHMEM_CMP_GE, 20);
    shmem_double_p(&row[300], 1, 1);
  }
  shmem_barrier_all();
  shmem_finalize();
  return sum < 0;
}
