/* What the profile counts: known numbers of calls. */
#include <shmem.h>
#include <stdio.h>

static long words[8];

int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < 5; i++) shmem_long_p(&words[0], i, next);
  shmem_putmem(&words[1], words, 3 * sizeof(long), next);
  shmem_pcontrol(0);
  shmem_long_p(&words[4], 1, next);
  shmem_pcontrol(1);
  shmem_barrier_all();
  const int is_right = shmem_long_g(&words[0], next) == 4 && words[4] == 1;
  if (!is_right) printf("PE %d: wrong result\n", shmem_my_pe());
  shmem_finalize();
  return is_right ? 0 : 1;
}
