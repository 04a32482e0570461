/* races: always; class: fence; pes: 2 */
/* Nothing orders the data before the flag: the flag may be there first. */
#include <shmem.h>

static long data[4];
static int flag;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    const long values[4] = {1, 2, 3, 4};
    shmem_long_put(data, values, 4, 1);  // race 1
    shmem_int_atomic_set(&flag, 1, 1);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    seen = data[3];  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
