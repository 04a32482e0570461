/* races: always; class: local; pes: 3 */
/* Two non-blocking gets from two PEs write the same element: nothing orders them before shmem_quiet. */
#include <shmem.h>

static long source[4];

int main(void) {
  shmem_init();
  long result[7] = {0};
  if (shmem_my_pe() == 0) {
    shmem_long_get_nbi(result, source, 4, 1);      // race 1
    shmem_long_get_nbi(result + 3, source, 4, 2);  // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
