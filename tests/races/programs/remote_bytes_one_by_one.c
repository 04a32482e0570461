/* races: always; class: remote; pes: 2 */
/* Eight single bytes are put, more than their word remembers; the owner reads the first one without a quiet. */
#include <shmem.h>
static char box[8];
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 8; ++i) shmem_char_p(&box[i], (char)i, 1);  // race 1
  }
  shmem_sync_all();
  volatile char c = 0;
  if (shmem_my_pe() == 1) c = box[0];  // race 2
  shmem_finalize();
  return c == 99;
}
