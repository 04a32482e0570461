// A library with a team, a context and memory of its own, of which a program has two: built once with NAME and STRIDE
// for each.
#include <shmem.h>

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)

namespace {

shmem_team_t team = SHMEM_TEAM_INVALID;
long* words;  // [0]: from the PE before in the team, [1]: own contribution, [2]: the sum

}  // namespace

// Collective, by the thread that has started MPI.
extern "C" bool NAMED(NAME, _start)() {
  int provided = 0;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE) return false;
  const int pes = shmem_n_pes();
  words = static_cast<long*>(shmem_calloc(3, sizeof(long)));
  return shmem_team_split_strided(SHMEM_TEAM_WORLD, STRIDE > 0 ? 0 : pes - 1, STRIDE, pes, nullptr, 0, &team) == 0 &&
         words != nullptr;
}

// Collective on the team, by a thread of the library's own. Returns the number of failures.
extern "C" int NAMED(NAME, _run)(int rounds) {
  const int me = shmem_team_my_pe(team), pes = shmem_team_n_pes(team);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &ctx) != 0) return 1;
  int failures = 0;
  for (long round = 0; round < rounds; ++round) {
    shmem_ctx_long_p(ctx, &words[0], round * pes + me, (me + 1) % pes);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    failures += words[0] != round * pes + (me + pes - 1) % pes;
    words[1] = round + me;
    shmem_long_sum_reduce(team, &words[2], &words[1], 1);
    failures += words[2] != round * pes + pes * (pes - 1L) / 2;
  }
  shmem_ctx_destroy(ctx);
  return failures;
}

// Collective.
extern "C" void NAMED(NAME, _stop)() {
  shmem_team_destroy(team);
  shmem_free(words);
  shmem_finalize();
}
