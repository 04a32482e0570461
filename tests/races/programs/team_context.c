/* races: none; class: team; pes: 4 */
/* A context of the team of odd PEs: its PE numbers are those of the team, its quiet completes its puts. */
#include <shmem.h>

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  shmem_team_config_t config = {.num_contexts = 1};
  shmem_team_t odd;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &odd);
  int wrong = 0;
  if (odd != SHMEM_TEAM_INVALID) {
    shmem_ctx_t context;
    if (shmem_team_create_ctx(odd, 0, &context) != 0) shmem_global_exit(1);
    if (me == 1) shmem_ctx_long_p(context, &word, 5, 1);
    shmem_ctx_quiet(context);
    shmem_team_sync(odd);
    wrong = me == 3 && word != 5;
    shmem_ctx_destroy(context);
  }
  shmem_finalize();
  return wrong;
}
