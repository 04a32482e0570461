/* races: always; class: remote; pes: 2 */
/* A PE loads a row in each of many epochs; another one puts to the row's middle without knowing of the last load. */
#include <shmem.h>

static double row[512];
static long count;

int main(void) {
  shmem_init();
  double sum = 0;
  if (shmem_my_pe() == 1) {
    for (int k = 0; k < 20; ++k) {
      for (int i = 0; i < 512; ++i) sum += row[i];  // race 1
      shmem_long_atomic_inc(&count, 0);
    }
  } else {
    shmem_long_wait_until(&count, SHMEM_CMP_GE, 1);
    shmem_double_p(&row[300], 1, 1);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return sum < 0;
}
