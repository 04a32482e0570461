/* Step 2: symmetric memory, put, get and barrier. Every PE writes four numbers into a box of its right neighbour,
 * and reads them back.
 *
 * Usage: oshrun -n 4 ./02_put_get
 */
#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  const int right = (me + 1) % pe_count;
  const int left = (me + pe_count - 1) % pe_count;

  /* All PEs call shmem_malloc together, with the same size: then every PE has a box. */
  long *box = shmem_malloc(4 * sizeof(long));
  if (box == NULL) shmem_global_exit(1);

  long mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = 10 * me + i;

  shmem_long_put(box, mine, 4, right); /* my numbers into the box of `right` */
  shmem_barrier_all();                 /* from here on all boxes are filled */

  long copy[4];
  shmem_long_get(copy, box, 4, right); /* the box of `right` into my copy */

  printf("PE %d has %ld %ld %ld %ld from PE %d\n", me, box[0], box[1], box[2], box[3], left);

  int wrong = 0;
  for (int i = 0; i < 4; ++i) {
    if (box[i] != 10 * left + i || copy[i] != mine[i]) wrong = 1;
  }
  shmem_free(box); /* also together */
  shmem_finalize();
  return wrong;
}
