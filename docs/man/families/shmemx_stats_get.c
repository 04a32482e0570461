#include <shmemx.h>
#include <stdio.h>

static long word;

int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmemx_stats_count_t before, after;
  const int is_off = shmemx_stats_get_peer(next, &before);
  for (int i = 0; i < 10; i++) shmem_long_p(&word, i, next);
  shmemx_stats_get_peer(next, &after);
  const unsigned long long puts = after.operations - before.operations;
  printf("PE %d: %llu operations to PE %d\n", shmem_my_pe(), puts, next);
  shmem_finalize();
  return puts != (is_off ? 0 : 10);
}
