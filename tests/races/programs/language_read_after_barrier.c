/* races: none; class: language; pes: 2 */
/* read stores into an array after the barrier that completes the other PE's put, and only as many bytes as come. */
#include <shmem.h>
#include <string.h>
#include <unistd.h>

static char box[32];

int main(void) {
  shmem_init();
  int ends[2];
  char text[16] = "from the pipe";
  int wrong = pipe(ends) != 0 || write(ends[1], text, sizeof text) != sizeof text;
  if (shmem_my_pe() == 0) shmem_putmem(box, text, sizeof text, 1);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_putmem(box + 16, text, sizeof text, 1);
  if (shmem_my_pe() == 1) wrong |= read(ends[0], box, sizeof box) != sizeof text;
  shmem_barrier_all();
  if (shmem_my_pe() == 1) wrong |= memcmp(box, text, sizeof text) != 0 || memcmp(box + 16, text, sizeof text) != 0;
  shmem_finalize();
  return wrong;
}
