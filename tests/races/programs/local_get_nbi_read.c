/* races: always; class: local; pes: 2 */
/* The result of a non-blocking get is read before shmem_quiet. */
#include <shmem.h>

static long source[8] = {1, 2, 3, 4, 5, 6, 7, 8};

int main(void) {
  shmem_init();
  long result[8] = {0};
  long sum = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_get_nbi(result, source, 8, 1);  // race 1
    sum = result[7];                           // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return sum < 0;
}
