/* races: always; class: remote; pes: 2 */
/* PE 0 puts to a word of PE 1, which stores to it in the same phase. */
#include <shmem.h>

static int word;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0)
    shmem_int_p(&word, 1, 1);  // race 1
  else
    word = 2;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
