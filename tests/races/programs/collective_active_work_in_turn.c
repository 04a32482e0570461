/* races: none; class: collective; pes: 3 */
/* Two pSync arrays in turn, as the standard advises; then one with barriers. */
#include <shmem.h>
static long ps[2][SHMEM_REDUCE_SYNC_SIZE];
static long pw[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long a, b[4];
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), bad = 0;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) ps[k][i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  for (int k = 0; k < 6; ++k) {
    a = me + k;
    shmem_long_sum_to_all(&b[0], &a, 1, 0, 0, 3, pw[k % 2], ps[k % 2]);
    bad |= b[0] != 3 + 3 * k;
  }
  for (int k = 0; k < 4; ++k) {
    shmem_barrier_all();
    a = me;
    shmem_long_max_to_all(&b[1], &a, 1, 0, 0, 3, pw[0], ps[0]);
    bad |= b[1] != 2;
  }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
