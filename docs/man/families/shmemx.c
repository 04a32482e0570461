#include <shmem.h>
#include <stdio.h>

int main(void) {
  static int greeted_by = -1; /* symmetric */
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_int_p(&greeted_by, me, (me + 1) % n);
  shmem_barrier_all();
  printf("Hello from PE %d of %d, greeted by PE %d\n", me, n, greeted_by);
  const int wrong = greeted_by != (me + n - 1) % n;
  shmem_finalize();
  return wrong;
}
