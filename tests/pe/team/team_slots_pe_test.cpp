// Teams that end and begin in quick turns: a slow member of an ended team must not be harmed by the team that takes its place.
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

// Neighbours form pairs; when a pair has ended, its even PE goes on with the other even ones at once.
PE_TEST_MIN(an_ended_team_does_not_meet_the_next_one, 4) {
  const int pairs = pes() / 2;
  const shmem_team_t even = split(SHMEM_TEAM_WORLD, 0, 2, (pes() + 1) / 2);
  for (int round = 0; round < 200; ++round) {
    shmem_team_t pair = SHMEM_TEAM_INVALID;
    for (int k = 0; k < pairs; ++k) {
      const shmem_team_t team = split(SHMEM_TEAM_WORLD, 2 * k, 1, 2);
      if (team != SHMEM_TEAM_INVALID) pair = team;
    }
    // More turns than the next team will ever count, so that its numbers cannot release anybody by accident.
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
