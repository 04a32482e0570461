/* races: always; class: signal; pes: 3 */
/* PE 0 waits for one arrival and reads the data of both. PE 2 puts only after PE 0 has waited. */
#include <shmem.h>

static uint64_t arrived;
static uint64_t go;
static long data[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const long value = 10 * me;
  long sum = 0;
  if (me == 1) shmem_long_put_signal(&data[1], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
  if (me == 2) {
    shmem_signal_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_put_signal(&data[2], &value, 1, &arrived, 1, SHMEM_SIGNAL_ADD, 0);  // race 1
  }
  if (me == 0) {
    shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, 1);
    shmem_signal_add(&go, 1, 2);
    sum += data[1];
    sum += data[2];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
