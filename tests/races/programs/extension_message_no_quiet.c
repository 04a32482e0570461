/* races: always; class: extension; pes: 2 */
/* A message does not complete the put before it: shmem_quiet is missing. */
#include <shmem.h>
#include <shmemx.h>

static long word;

int main(void) {
  shmem_init();
  volatile long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&word, 1, 1);  // race 1
    shmemx_send(NULL, 0, 1, 3);
  } else {
    shmemx_recv(NULL, 0, 0, 3, NULL);
    seen = word;  // race 2
  }
  (void)seen;
  shmem_finalize();
  return 0;
}
