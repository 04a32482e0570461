/* Step 1: every PE says its number.
 *
 * Usage: oshrun -n 4 ./01_hello
 */
#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  printf("Hello from PE %d of %d\n", me, pe_count);

  shmem_finalize();
  return me >= 0 && me < pe_count ? 0 : 1;
}
