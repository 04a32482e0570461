/* races: always; class: collective; pes: 2 */
/* A collective completes no put: PE 1 reads the word that PE 0 has put before the reduction. */
#include <shmem.h>

static int source, dest;
static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long seen = 0;
  if (me == 0) shmem_long_p(&word, 4, 1);  // race 1
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
  if (me == 1) seen = word;  // race 2
  shmem_finalize();
  return seen < 0;
}
