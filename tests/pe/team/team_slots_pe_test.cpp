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

PE_TEST(a_team_of_one_may_have_any_stride) {
  for (const int stride : {0, 1, -1, 2147483647, -2147483647 - 1}) {
    const shmem_team_t team = split(SHMEM_TEAM_WORLD, pes() - 1, stride, 1);
    CHECK_EQUAL(shmem_team_my_pe(team), me() == pes() - 1 ? 0 : -1);
    shmem_team_destroy(team);
  }
}
