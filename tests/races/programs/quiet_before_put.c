/* races: always; class: quiet; pes: 2 */
/* Of two puts the quiet stands between: it completes the first one only. */
#include <shmem.h>

static long words[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) {
    shmem_long_p(&words[0], 5, 1);
    shmem_quiet();
    shmem_long_p(&words[1], 6, 1);  // race 1
  }
  shmem_sync_all();
  long sum = 0;
  if (me == 1) {
    sum += words[0];
    sum += words[1];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
