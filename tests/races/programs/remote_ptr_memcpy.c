/* races: always; class: remote; pes: 2 */
/* memcpy through shmem_ptr to another PE's memory, which that one reads. */
#include <shmem.h>
#include <string.h>

static char buffer[64];

int main(void) {
  shmem_init();
  char seen = 0;
  if (shmem_my_pe() == 0) {
    char* const there = shmem_ptr(buffer, 1);
    if (there != NULL) memcpy(there, "hello, other PE", 16);  // race 1
  } else {
    seen = buffer[3];  // race 2
  }
  shmem_finalize();
  return seen == 1;
}
