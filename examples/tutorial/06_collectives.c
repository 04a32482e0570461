/* Step 6: collectives, on all PEs and on a team: PE 0 announces a number, all PEs add something up, and the PEs of
 * even number do so among themselves.
 *
 * Usage: oshrun -n 4 ./06_collectives
 */
#include <shmem.h>
#include <stdio.h>

static long number, copy_of_number; /* collectives work on symmetric objects */
static long mine, sum;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  int wrong = 0;

  if (me == 0) number = 42;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, &copy_of_number, &number, 1, 0); /* from PE 0 to all */
  if (copy_of_number != 42) wrong = 1;

  mine = me + 1;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1); /* all get the sum */
  if (sum != (long)pe_count * (pe_count + 1) / 2) wrong = 1;
  if (me == 0) printf("All %d PEs: the number is %ld, the sum is %ld\n", pe_count, copy_of_number, sum);

  /* PEs 0, 2, 4, ... All PEs make the call; the others get SHMEM_TEAM_INVALID. */
  const int even_count = (pe_count + 1) / 2;
  shmem_team_t evens = SHMEM_TEAM_INVALID;
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, even_count, NULL, 0, &evens) != 0) shmem_global_exit(1);

  if (evens != SHMEM_TEAM_INVALID) {
    shmem_long_sum_reduce(evens, &sum, &mine, 1);
    if (sum != (long)even_count * even_count) wrong = 1; /* 1 + 3 + 5 + ... */
    printf("PE %d is number %d of the %d even ones, whose sum is %ld\n", me, shmem_team_my_pe(evens),
           shmem_team_n_pes(evens), sum);
    shmem_team_destroy(evens);
  }
  shmem_finalize();
  return wrong;
}
