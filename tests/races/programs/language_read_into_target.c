/* races: always; class: language; pes: 2 */
/* read stores the contents of a pipe into an array that a put of the other PE writes. */
#include <shmem.h>
#include <unistd.h>

static char box[16];

int main(void) {
  shmem_init();
  int ends[2];
  char text[16] = "from the pipe";
  int wrong = pipe(ends) != 0 || write(ends[1], text, sizeof text) != sizeof text;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_putmem(box, text, sizeof text, 1);  // race 1
  if (shmem_my_pe() == 1) wrong |= read(ends[0], box, sizeof box) < 0;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
