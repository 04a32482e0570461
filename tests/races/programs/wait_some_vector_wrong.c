/* races: always; class: wait; pes: 3 */
/* wait_until_some waits for flags 1 and 2, of which the puts have no fence. */
#include <shmem.h>

static long flags[3];
static long data[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long sum = 0;
  if (me != 0) {
    shmem_long_p(&data[me], 10, 0);  // race 1
    shmem_long_p(&flags[me], me, 0);
  } else {
    size_t indices[3];
    int status[3] = {1, 0, 0};
    long values[3] = {0, 1, 2};
    const size_t n = shmem_long_wait_until_some_vector(flags, 3, indices, status, SHMEM_CMP_EQ, values);
    for (size_t k = 0; k < n; ++k) sum += data[indices[k]];  // race 2
  }
  shmem_finalize();
  return sum > 20;
}
