/* races: always; class: language; pes: 2 */
/* PE 1 stores the bytes of a word one by one, and PE 0 reads the first of them. */
#include <shmem.h>

static char text[16];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 1) {
    for (int i = 0; i < 16; ++i) text[i] = (char)('a' + i);  // race 1
  } else {
    char first = 0;
    shmem_getmem(&first, text, 1, 1);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
