/* races: always; class: language; pes: 2 */
/* A text is turned into a number while a nonblocking get writes it. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static char digits[16];

int main(void) {
  shmem_init();
  strcpy(digits, "17");
  shmem_barrier_all();
  int value = 0;
  char text[16] = "";
  if (shmem_my_pe() == 0) {
    shmem_getmem_nbi(text, digits, sizeof text, 1);  // race 1
    value = (int)strtol(text, NULL, 10);  // race 2
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_finalize();
  return value < 0;
}
