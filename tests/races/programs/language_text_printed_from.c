/* races: always; class: language; pes: 2 */
/* sprintf reads a text that is put to. */
#include <shmem.h>
#include <stdio.h>
static char box[32] = "abc";
int main(void) {
  shmem_init();
  char line[64];
  shmem_char_p(&box[1], 'x', 1 - shmem_my_pe());  // race 1
  sprintf(line, "<%s>", box);                     // race 2
  shmem_barrier_all();
  shmem_finalize();
  return line[0] != '<';
}
