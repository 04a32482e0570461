/* races: none; class: remote; pes: 2 */
/* memcpy through shmem_ptr, then a sync, which is enough for stores of the CPU. */
#include <shmem.h>
#include <string.h>

static char buffer[64];

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    char* const there = shmem_ptr(buffer, 1);
    memcpy(there, "hello, other PE", 16);
  }
  shmem_sync_all();
  if (shmem_my_pe() == 1) wrong = strcmp(buffer, "hello, other PE") != 0;
  shmem_finalize();
  return wrong;
}
