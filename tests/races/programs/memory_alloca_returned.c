/* races: always; class: memory; pes: 2 */
/* A function returns while its local array is the source of a nonblocking put; the next function has its stack. */
#include <shmem.h>
#include <string.h>

static long dest[32];

__attribute__((noinline)) static void start(void) {
  long from[32];
  memset(from, 1, sizeof from);
  shmem_long_put_nbi(dest, from, 32, 1 - shmem_my_pe());  // race 1
}

__attribute__((noinline)) static void fill(long* scratch) {
  for (int i = 0; i < 32; ++i) scratch[i] = i;  // race 2
}

__attribute__((noinline)) static long other(void) {
  long scratch[32];
  fill(scratch);
  return scratch[31];
}

int main(void) {
  shmem_init();
  start();
  const long sum = other();
  shmem_quiet();
  shmem_barrier_all();
  shmem_finalize();
  return sum != 31;
}
