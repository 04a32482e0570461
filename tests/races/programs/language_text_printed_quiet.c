/* races: none; class: language; pes: 2 */
/* printf, strchr and atoi read texts after quiet; a precision bounds what printf reads. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char words[16];

int main(void) {
  shmem_init();
  strcpy(words, "17 text");
  shmem_barrier_all();
  char text[16] = "", more[16] = "";
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_getmem_nbi(text, words, sizeof text, 1);
    shmem_quiet();
    printf("%s %5.2f %ld %c\n", text, 1.5, 2L, 'c');
    wrong = atoi(text) != 17 || strchr(text, 't') != text + 3;
    shmem_getmem_nbi(more + 8, words, 8, 1);
    printf("%.8s\n", more);
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
