// Teams are destroyed and created in quick succession: a team that reuses the slot of a destroyed one must not disturb
// slow members of that one.
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

shmem_team_t split(shmem_team_t parent, int start, int stride, int size) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(parent, start, stride, size, nullptr, 0, &team), 0);
  return team;
}

}  // namespace

// Neighbours form pairs; after a pair's team has been destroyed, its even PE joins a team of the even PEs at once.
PE_TEST_MIN(a_destroyed_team_is_not_disturbed_by_the_next_one, 4) {
  const int pairs = pes() / 2;
  const shmem_team_t even = split(SHMEM_TEAM_WORLD, 0, 2, (pes() + 1) / 2);
  for (int round = 0; round < 200; ++round) {
    shmem_team_t pair = SHMEM_TEAM_INVALID;
    for (int k = 0; k < pairs; ++k) {
      const shmem_team_t team = split(SHMEM_TEAM_WORLD, 2 * k, 1, 2);
      if (team != SHMEM_TEAM_INVALID) pair = team;
    }
    // More barriers than the next team executes, so that its epochs cannot release a PE by accident.
    for (int turn = 0; pair != SHMEM_TEAM_INVALID && turn < 9; ++turn) CHECK_EQUAL(shmem_team_sync(pair), 0);
    shmem_team_destroy(pair);
    if (even == SHMEM_TEAM_INVALID) continue;
    const shmem_team_t child = split(even, 0, 1, shmem_team_n_pes(even));
    CHECK_EQUAL(shmem_team_sync(child), 0);
    shmem_team_destroy(child);
  }
  shmem_team_destroy(even);
}

namespace {

// Every collective once, with results that depend on the team.
void use(shmem_team_t team, long number) {
  static long source[8], dest[64];
  const int n = shmem_team_n_pes(team);
  const int mine = shmem_team_my_pe(team);
  for (int i = 0; i < 8; ++i) source[i] = number * 1000 + mine * 10 + i;
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_long_sum_reduce(team, dest, source, 8), 0);
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(dest[i], n * (number * 1000 + i) + 10L * n * (n - 1) / 2);
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_long_broadcast(team, dest, source, 8, n - 1), 0);
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(dest[i], number * 1000 + (n - 1) * 10 + i);
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_long_fcollect(team, dest, source, 2), 0);
  for (int pe = 0; pe < n; ++pe) CHECK_EQUAL(dest[2 * pe + 1], number * 1000 + pe * 10 + 1);
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_long_collect(team, dest, source, static_cast<std::size_t>(mine % 2 + 1)), 0);
  for (int pe = 0, at = 0; pe < n; at += pe++ % 2 + 1) CHECK_EQUAL(dest[at], number * 1000 + pe * 10);
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_long_alltoall(team, dest, source, 1), 0);
  for (int pe = 0; pe < n; ++pe) CHECK_EQUAL(dest[pe], number * 1000 + pe * 10 + mine);
  shmem_team_sync(team);
}

// Long data, for which collectives take other ways.
void move_much(shmem_team_t team) {
  constexpr std::size_t kMany = 100'000;
  const Symmetric<int> source(kMany);
  const Symmetric<int> dest(kMany);
  const int n = shmem_team_n_pes(team);
  for (std::size_t i = 0; i < kMany; ++i) source.get()[i] = static_cast<int>(i) + shmem_team_my_pe(team);
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_int_sum_reduce(team, dest.get(), source.get(), kMany), 0);
  long bad = 0;
  for (std::size_t i = 0; i < kMany; ++i) bad += dest.get()[i] != n * static_cast<int>(i) + n * (n - 1) / 2;
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_int_broadcast(team, dest.get(), source.get(), kMany, 0), 0);
  for (std::size_t i = 0; i < kMany; ++i) bad += dest.get()[i] != static_cast<int>(i);
  CHECK_EQUAL(bad, 0);
  shmem_team_sync(team);
}

}  // namespace

// Teams beyond the slots in shared memory, in collectives between others that have slots.
PE_TEST_MIN(more_teams_than_slots_work_alike, 2) {
  constexpr int kTeams = 1100;
  std::vector<shmem_team_t> teams;
  for (int i = 0; i < kTeams; ++i) teams.push_back(split(SHMEM_TEAM_WORLD, i % 2, 1, pes() - i % 2));
  for (const int i : {0, 1, 500, 1090, 1099, 1098, 1, 1091}) {
    const shmem_team_t team = teams[static_cast<std::size_t>(i)];
    if (team != SHMEM_TEAM_INVALID) use(team, i);
  }
  shmem_barrier_all();
  move_much(teams[1098]);
  const shmem_team_t child = split(teams[1098], 0, 1, pes());
  use(child, 7);
  static long word;
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  CHECK_EQUAL(shmem_team_create_ctx(child, 0, &context), 0);
  shmem_ctx_long_p(context, &word, 100 + me(), (me() + 1) % pes());
  shmem_ctx_quiet(context);
  shmem_barrier_all();
  CHECK_EQUAL(word, 100L + (me() + pes() - 1) % pes());
  shmem_ctx_destroy(context);
  shmem_team_destroy(child);
  // A slot and an index beyond the slots that were given back are taken again.
  for (const int i : {3, 1097}) shmem_team_destroy(teams[static_cast<std::size_t>(i)]);
  for (const int i : {3, 1097}) {
    teams[static_cast<std::size_t>(i)] = split(SHMEM_TEAM_WORLD, pes() - 1, -1, pes());
    use(teams[static_cast<std::size_t>(i)], i);
  }
  for (const shmem_team_t team : teams) shmem_team_destroy(team);
}

// Programs that keep few teams and always make new ones: the indices behind all that are in use come to an end.
PE_TEST_MIN(indices_beyond_the_slots_are_used_again, 2) {
  constexpr int kLasting = 1030;  // more than there are slots
  // More than there are indices beyond them; with many PEs over nodes that would take a minute, and short runs
  // (SHMEMX_TEST_SECONDS) have fewer.
  const int n_rolls = pes() <= 4 && stress_seconds(1) >= 1 ? 15'500 : 500;
  std::vector<shmem_team_t> lasting;
  for (int i = 0; i < kLasting; ++i) lasting.push_back(split(SHMEM_TEAM_WORLD, pes() - 1, -1, pes()));
  shmem_team_t last = split(SHMEM_TEAM_WORLD, 0, 1, pes());
  int rolls = 0;
  for (; rolls < n_rolls && last != SHMEM_TEAM_INVALID; ++rolls) {
    // Two children at once: of both halves.
    shmem_team_t rows = SHMEM_TEAM_INVALID, columns = SHMEM_TEAM_INVALID;
    if (rolls % 1000 == 0) {
      CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, nullptr, 0, &rows, nullptr, 0, &columns), 0);
      use(columns, rolls);
      shmem_team_destroy(rows);
      shmem_team_destroy(columns);
    }
    const shmem_team_t next = split(SHMEM_TEAM_WORLD, 0, 1, pes());
    shmem_team_destroy(last);
    last = next;
  }
  CHECK_EQUAL(rolls, n_rolls);
  use(last, 7);
  shmem_team_destroy(last);
  for (const shmem_team_t team : lasting) shmem_team_destroy(team);
}

PE_TEST(a_team_of_one_may_have_any_stride) {
  for (const int stride : {0, 1, -1, 2147483647, -2147483647 - 1}) {
    const shmem_team_t team = split(SHMEM_TEAM_WORLD, pes() - 1, stride, 1);
    CHECK_EQUAL(shmem_team_my_pe(team), me() == pes() - 1 ? 0 : -1);
    shmem_team_destroy(team);
  }
}
