/* races: none; class: memory; pes: 2 */
/* A block is freed and allocated again with another layout; calloc clears it. */
#include <shmem.h>

int main(void) {
  shmem_init();
  int wrong = 0;
  for (int k = 1; k < 6; ++k) {
    long* const a = shmem_calloc(64 * (size_t)k, sizeof(long));
    wrong |= a[63] != 0;
    shmem_sync_all();
    shmem_long_p(&a[63], k, 1 - shmem_my_pe());
    shmem_barrier_all();
    wrong |= a[63] != k;
    shmem_free(a);
    int* const b = shmem_align(4096, 100);
    b[0] = k;
    shmem_sync_all();
    wrong |= shmem_int_g(b, 1 - shmem_my_pe()) != k;
    shmem_free(b);
  }
  shmem_finalize();
  return wrong;
}
