/* races: always; class: memory; pes: 2 */
/* The source of a nonblocking put is given back to the C library before the put is complete. */
#include <shmem.h>
#include <stdlib.h>

static int box[64];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    int *source = malloc(sizeof box);
    for (int i = 0; i < 64; ++i) source[i] = i;
    shmem_int_put_nbi(box, source, 64, 1);  // race 1
    free(source);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
