/* races: none; class: language; pes: 2 */
/* PE 1 stores the bytes of a word one by one, and PE 0 reads the first of them after a barrier. */
#include <shmem.h>

static char text[16];

int main(void) {
  shmem_init();
  char first = 'a';
  if (shmem_my_pe() == 1) {
    for (int i = 0; i < 16; ++i) text[i] = (char)('a' + i);
  }
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_getmem(&first, text, 1, 1);
  shmem_finalize();
  return first == 'a' ? 0 : 1;
}
