/* races: none; class: team; pes: 4 */
/* Even PEs exchange by puts within their team's context; quiet of it and a sync of the team order the reads. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_t even = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &even);
  int wrong = 0;
  if (even != SHMEM_TEAM_INVALID) {
    shmem_ctx_t ctx;
    shmem_team_create_ctx(even, 0, &ctx);
    shmem_ctx_long_p(ctx, &word, me + 1, 1 - shmem_team_my_pe(even));
    shmem_ctx_quiet(ctx);
    shmem_team_sync(even);
    wrong = word != (2 - me) + 1;
    shmem_ctx_destroy(ctx);
  }
  shmem_finalize();
  return wrong;
}
