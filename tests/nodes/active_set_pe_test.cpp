// Between nodes the collectives of an active set send what those of a team send.
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kRounds = 200;
long sync_array[SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE];  // SHMEM_SYNC_VALUE is 0
double work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

// Returns the number of segments with data that this PE has sent over all its connections.
long sent_segments() {
  long sum = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder)) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(std::atoi(entry->d_name), IPPROTO_TCP, TCP_INFO, &info, &length) == 0)
      sum += info.tcpi_data_segs_out;
  }
  ::closedir(folder);
  return sum;
}

// Returns the segments of all PEs for kRounds calls, after a first one.
template <class Call>
long segments_of(Call call) {
  static long mine, all;
  call();
  shmem_barrier_all();
  const long before = sent_segments();
  for (int round = 0; round < kRounds; ++round) {
    call();
    shmem_team_sync(SHMEM_TEAM_WORLD);
  }
  mine = sent_segments() - before;
  shmem_barrier_all();
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
  return all;
}

// Acknowledgements and what gathers differ from run to run, on a busy machine more than a little: one of several runs
// has to be alike. All PEs see the same sums.
template <class OfSet, class OfTeam>
void check_alike(OfSet of_set, OfTeam of_team) {
  constexpr int kMostRuns = 5;
  long set = 1;
  long team = 0;
  for (int run = 0; run < kMostRuns && set > team + team / 4; ++run) {
    set = segments_of(of_set);
    team = segments_of(of_team);
  }
  CHECK(team > kRounds);
  CHECK(set <= team + team / 4);
}

}  // namespace

PE_TEST_MIN(collectives_of_an_active_set_send_no_more_than_those_of_a_team, 2) {
  const auto n = static_cast<std::size_t>(pes());
  const Symmetric<double> source(n), dest(n);
  double* const to = dest.get();
  double* const from = source.get();
  check_alike([&] { shmem_double_sum_to_all(to, from, 1, 0, 0, pes(), work, sync_array); },
              [&] { shmem_double_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1); });
  check_alike([&] { shmem_broadcast64(to, from, 1, 0, 0, 0, pes(), sync_array); },
              [&] { shmem_double_broadcast(SHMEM_TEAM_WORLD, to, from, 1, 0); });
  check_alike([&] { shmem_fcollect64(to, from, 1, 0, 0, pes(), sync_array); },
              [&] { shmem_double_fcollect(SHMEM_TEAM_WORLD, to, from, 1); });
  check_alike([&] { shmem_collect64(to, from, 1, 0, 0, pes(), sync_array); },
              [&] { shmem_double_collect(SHMEM_TEAM_WORLD, to, from, 1); });
  check_alike([&] { shmem_alltoall64(to, from, 1, 0, 0, pes(), sync_array); },
              [&] { shmem_double_alltoall(SHMEM_TEAM_WORLD, to, from, 1); });
  check_alike([&] { shmem_barrier(0, 0, pes(), sync_array); }, [] { shmem_barrier_all(); });
}
