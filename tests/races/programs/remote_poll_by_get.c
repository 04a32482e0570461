/* races: always; class: remote; pes: 2 */
/* PE 1 asks for a word of PE 0 by gets until a put has changed it. Gets and puts are not atomic. */
#include <shmem.h>
#include <unistd.h>

static int word;

int main(void) {
  shmem_init();
  int seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_p(&word, 1, 0);  // race 1
    shmem_quiet();
  } else {
    for (int turn = 0; turn < 100 && seen == 0; ++turn) {
      seen = shmem_int_g(&word, 0);  // race 2
      usleep(100);
    }
  }
  shmem_finalize();
  return seen < 0;
}
