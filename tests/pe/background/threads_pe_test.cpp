// Collectives that do not block, begun and completed by several threads at once, with SHMEM_THREAD_MULTIPLE.
#include <shmemx.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/threads.hpp"

using namespace pe_test;
using test_support::run_on_threads;

namespace {

constexpr int kThreads = 3;

// A team of all PEs for each thread.
class Teams {
 public:
  Teams() {
    for (shmem_team_t& team : teams_)
      CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team), 0);
  }
  ~Teams() {
    for (const shmem_team_t team : teams_) shmem_team_destroy(team);
  }
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;
  shmem_team_t operator[](std::size_t thread) const { return teams_[thread]; }

 private:
  shmem_team_t teams_[kThreads];
};

long sum_of_pes(long factor) { return factor * shmem_n_pes() * (shmem_n_pes() - 1) / 2; }

// Returns how many results of a turn are wrong.
int collect_and_sum(shmem_team_t team, long turn) {
  const auto n = static_cast<std::size_t>(shmem_n_pes());
  const std::vector<long> mine(1 + static_cast<std::size_t>(turn % 7) * 400, me() * turn);
  std::vector<long> sum(mine.size(), -1);
  std::vector<long> all(n, -1);
  shmemx_request_t requests[3];
  shmemx_reduce_nb(team, sum.data(), mine.data(), mine.size(), SHMEMX_INT64, SHMEMX_OP_SUM, &requests[0]);
  shmemx_fcollect_nb(team, all.data(), mine.data(), sizeof(long), &requests[1]);
  shmemx_barrier_nb(team, &requests[2]);
  shmemx_waitall(3, requests, nullptr);
  int wrong = 0;
  for (const long value : sum) wrong += value != sum_of_pes(turn);
  for (std::size_t pe = 0; pe < n; ++pe) wrong += all[pe] != static_cast<long>(pe) * turn;
  return wrong;
}

}  // namespace

PE_TEST(each_thread_has_collectives_of_its_own_team) {
  const Teams teams;
  std::atomic<int> wrong{0};
  run_on_threads(kThreads, [&](int thread) {
    for (long turn = 1; turn <= 20; ++turn) wrong += collect_and_sum(teams[static_cast<std::size_t>(thread)], turn);
  });
  CHECK_EQUAL(wrong.load(), 0);
}

PE_TEST(any_thread_completes_a_collective) {
  constexpr std::size_t kMany = 30;
  std::vector<long> in(kMany);
  std::vector<long> out(kMany, -1);
  std::vector<shmemx_request_t> requests(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    in[i] = me() * static_cast<long>(i);
    shmemx_reduce_nb(SHMEM_TEAM_WORLD, &out[i], &in[i], 1, SHMEMX_INT64, SHMEMX_OP_SUM, &requests[i]);
  }
  run_on_threads(kThreads, [&](int thread) {
    for (std::size_t i = static_cast<std::size_t>(thread); i < kMany; i += kThreads)
      shmemx_wait(&requests[kMany - 1 - i], nullptr);
  });
  for (std::size_t i = 0; i < kMany; ++i) CHECK_EQUAL(out[i], sum_of_pes(static_cast<long>(i)));
}
