/* races: none; class: remote; pes: 4 */
/* Four PEs put one byte each into one aligned word of PE 0. No byte is written twice. */
#include <shmem.h>

static char letters[8];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_char_p(&letters[me], (char)('a' + me), 0);
  shmem_barrier_all();
  const int wrong = me == 0 && (letters[0] != 'a' || letters[3] != 'd');
  shmem_finalize();
  return wrong;
}
