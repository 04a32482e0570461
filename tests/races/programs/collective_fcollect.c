/* races: none; class: collective; pes: 3 */
/* Each PE reads what fcollect and collect have brought it. */
#include <shmem.h>

static int source[2];
static int same[6];
static int different[6];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  source[0] = source[1] = me + 1;
  shmem_int_fcollect(SHMEM_TEAM_WORLD, same, source, 2);
  shmem_int_collect(SHMEM_TEAM_WORLD, different, source, me == 1 ? 2 : 1);
  const int wrong = same[4] != 3 || different[0] != 1 || different[1] != 2 || different[3] != 3;
  shmem_finalize();
  return wrong;
}
