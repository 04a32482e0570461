/* races: always; class: signal; pes: 2 */
/* shmem_signal_fetch is called once, whatever it returns, and then the data are read. The sender has waited for the
 * read. */
#include <shmem.h>

static uint64_t signal;
static uint64_t go;
static long data[4];

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    const long from[4] = {1, 2, 3, 4};
    shmem_uint64_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_long_put_signal(data, from, 4, &signal, 1, SHMEM_SIGNAL_SET, 1);  // race 1
  } else {
    const uint64_t now = shmem_signal_fetch(&signal);
    shmem_uint64_p(&go, 1, 0);
    seen = data[2] + (long)now;  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return seen > 4;
}
