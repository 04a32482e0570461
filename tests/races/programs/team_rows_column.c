/* races: always; class: team; pes: 4 */
/* A grid of two rows: each PE puts to its neighbour in the column, but synchronises the row. */
#include <shmem.h>

static int box;

int main(void) {
  shmem_init();
  shmem_team_t row, column;
  if (shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) != 0) shmem_global_exit(1);
  const int neighbour = shmem_team_translate_pe(column, 1 - shmem_team_my_pe(column), SHMEM_TEAM_WORLD);
  shmem_barrier_all();
  shmem_int_p(&box, 100, neighbour);  // race 1
  shmem_quiet();
  shmem_team_sync(row);
  const int seen = box;  // race 2
  shmem_finalize();
  return seen < 0;
}
