/* races: always; class: remote; pes: 4 */
/* Four PEs put one byte each into a word of PE 0. PE 2 and PE 3 write the same byte. */
#include <shmem.h>

static char letters[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int place = me < 3 ? me : 2;
  shmem_char_p(&letters[place], (char)('a' + me), 0);  // race 1 and 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
