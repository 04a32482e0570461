/* races: always; class: language; pes: 2 */
/* pwrite reads an array that a put of the other PE writes. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static char box[16];

int main(void) {
  shmem_init();
  char text[16] = "a text";
  FILE *file = tmpfile();
  int wrong = file == NULL;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_putmem(box, text, sizeof text, 1);  // race 1
  if (shmem_my_pe() == 1 && !wrong) wrong = pwrite(fileno(file), box, sizeof box, 0) < 0;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
