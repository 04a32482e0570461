#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  printf("PE %d of %d\n", me, n);
  shmem_finalize();
  return me < 0 || me >= n;
}
