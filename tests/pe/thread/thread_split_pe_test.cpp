// Threads of a PE split different teams at the same time (section 9.4: one thread at a time for each team).
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/threads.hpp"

using namespace pe_test;

PE_TEST(threads_split_different_teams) {
  constexpr std::size_t kParents = 3;
  constexpr int kRounds = 300;
  Symmetric<long> source(kParents * 8), dest(kParents * 8);
  std::vector<shmem_team_t> parents(kParents, SHMEM_TEAM_INVALID);
  for (shmem_team_t& parent : parents)
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &parent), 0);
  const auto work = [&](std::size_t k) {
    std::minstd_rand random(static_cast<unsigned>(k) * 77U + static_cast<unsigned>(me()) + 1U);
    long* const mine = source.get() + 8 * k;
    long* const sum = dest.get() + 8 * k;
    for (int round = 0; round < kRounds; ++round) {
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 60));
      shmem_team_t team = SHMEM_TEAM_INVALID;
      CHECK_EQUAL(shmem_team_split_strided(parents[k], 0, 1, pes(), nullptr, 0, &team), 0);
      *mine = static_cast<long>(k) * 1000000 + round;
      CHECK_EQUAL(shmem_long_sum_reduce(team, sum, mine, 1), 0);
      CHECK_EQUAL(*sum, *mine * pes());
      shmem_team_destroy(team);
    }
  };
  test_support::run_on_threads(kParents, work);
  for (const shmem_team_t parent : parents) shmem_team_destroy(parent);
}
