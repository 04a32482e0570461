/* races: none; class: team; pes: 4 */
/* A grid of two rows: each PE puts to its neighbour in the row and synchronises the row. */
#include <shmem.h>

static int box;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t row, column;
  if (shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) != 0) shmem_global_exit(1);
  const int neighbour = shmem_team_translate_pe(row, 1 - shmem_team_my_pe(row), SHMEM_TEAM_WORLD);
  shmem_int_p(&box, 100 + me, neighbour);
  shmem_quiet();
  shmem_team_sync(row);
  const int wrong = box != 100 + neighbour;
  shmem_finalize();
  return wrong;
}
