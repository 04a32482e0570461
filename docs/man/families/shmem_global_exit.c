#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    puts("found it");
    shmem_global_exit(0);
  }
  static long never = 0;
  shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
  return 1;
}
