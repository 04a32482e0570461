/* races: always; class: language; pes: 2 */
/* printf reads a text that a nonblocking get writes. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char words[16];

int main(void) {
  shmem_init();
  strcpy(words, "text");
  shmem_barrier_all();
  char text[16] = "";
  if (shmem_my_pe() == 0) {
    shmem_getmem_nbi(text, words, sizeof text, 1);  // race 1
    printf("%d: %s\n", 1, text);  // race 2
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
