/* Step 10: several hosts. Every PE tells which PEs share memory with it, and adds to a word of each PE, near or far.
 *
 * Usage: oshrun -n 4 -hosts a,b ./10_hosts, or on one machine SHMEMX_PES_PER_NODE=2 oshrun -n 4 ./10_hosts
 */
#include <shmem.h>
#include <stdio.h>

static long visits;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  int mapped = 0; /* PEs whose memory this one can load and store directly, itself included */
  for (int pe = 0; pe < pe_count; ++pe) {
    if (shmem_ptr(&visits, pe) != NULL) ++mapped;
    shmem_long_atomic_inc(&visits, pe); /* works for all of them */
  }
  shmem_barrier_all();

  printf("PE %d shares memory with %d of %d PEs; %ld PEs have been here\n", me, mapped, pe_count, visits);

  const int wrong = visits != pe_count || mapped != shmem_team_n_pes(SHMEM_TEAM_SHARED);
  shmem_finalize();
  return wrong;
}
