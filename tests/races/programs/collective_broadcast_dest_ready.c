/* races: none; class: collective; pes: 2 */
/* Two broadcasts into one dest, with a synchronisation between the reads and the second one. */
#include <shmem.h>

static long source[2] = {1, 2};
static long dest[2];

int main(void) {
  shmem_init();
  int wrong = 0;
  for (int turn = 0; turn < 2; ++turn) {
    if (shmem_my_pe() == 0) source[0] = turn;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0);
    wrong |= dest[0] != turn || dest[1] != 2;
    shmem_sync_all();
  }
  shmem_finalize();
  return wrong;
}
