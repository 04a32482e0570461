/* races: always; class: signal; pes: 2 */
/* The signal tells of its own data only, not of a put before it. */
#include <shmem.h>

static uint64_t ready;
static long earlier;
static long data;

int main(void) {
  shmem_init();
  const long value = 2;
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&earlier, 1, 1);  // race 1
    shmem_long_put_signal(&data, &value, 1, &ready, 1, SHMEM_SIGNAL_SET, 1);
  } else {
    shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
    seen = data;
    seen += earlier;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
