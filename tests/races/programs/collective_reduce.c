/* races: none; class: collective; pes: 4 */
/* Each PE fills its source, reduces, changes the source and reads its own dest. */
#include <shmem.h>

static int source[3];
static int dest[3];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (int i = 0; i < 3; ++i) source[i] = me + i;
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 3);
  for (int i = 0; i < 3; ++i) source[i] = -1;
  const int wrong = dest[0] != 6 || dest[2] != 14;
  shmem_finalize();
  return wrong;
}
