/* Every PE says hello to its right neighbour and checks which PE has greeted it.
 *
 * Usage: oshrun -n 4 ./hello
 */
#include <shmem.h>
#include <stdio.h>

/* Globals and statics are symmetric: every PE has one, and every PE can write every other's. */
static int greeted_by = -1;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  shmem_int_p(&greeted_by, me, (me + 1) % pe_count);
  shmem_barrier_all();

  const int left = (me + pe_count - 1) % pe_count;
  const int ok = greeted_by == left;
  printf("Hello from PE %d of %d, greeted by PE %d%s\n", me, pe_count, greeted_by, ok ? "" : " (wrong)");

  shmem_finalize();
  return ok ? 0 : 1;
}
