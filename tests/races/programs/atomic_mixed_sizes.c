/* races: always; class: atomic; pes: 2 */
/* Atomics of four and of eight bytes on one word: they are atomic among their own type only. */
#include <shmem.h>

static union {
  int32_t half[2];
  int64_t whole;
} word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (me == 0) shmem_int32_atomic_inc(&word.half[0], 0);  // race 1
  if (me == 1) shmem_int64_atomic_inc(&word.whole, 0);    // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
