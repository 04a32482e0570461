// Measures short collectives of many PEs, on one node or on many, each alone: the first reduction of the job, then
// barriers, reductions, broadcasts and fcollects of 8 bytes. Prints milliseconds.
#include <shmem.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "../support/clock.hpp"
#include "../support/report.hpp"

namespace {
using namespace shmemx::bench;

constexpr int kBroadcasts = 8;  // one after the other, before a barrier that keeps the root from running ahead
long source, dest;

double ms_since(std::int64_t begin) { return static_cast<double>(now_ns() - begin) * 1e-6; }

void print(const char* what, std::size_t bytes, std::vector<double> samples) {
  const bool one_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == shmem_n_pes();
  if (shmem_my_pe() == 0)
    print_result({one_node ? "coll_node" : "coll_nodes", shmem_n_pes(), bytes, "ms", what, "",
                  summarize(std::move(samples), false)});
}

// Returns the duration of each call on this PE, after some that do not count.
template <class Call>
std::vector<double> times_of(int count, const Call& call) {
  constexpr int kWarmUp = 3;
  std::vector<double> samples;
  for (int i = -kWarmUp; i < count; ++i) {
    const std::int64_t begin = now_ns();
    call();
    if (i >= 0) samples.push_back(ms_since(begin));
  }
  return samples;
}

}  // namespace

int main() {
  shmem_init();
  const int n = shmem_n_pes();
  const int count = std::max(20, 20'000 / n);
  auto* const all = static_cast<long*>(shmem_calloc(static_cast<std::size_t>(n), sizeof(long)));
  source = shmem_my_pe();
  shmem_sync_all();
  const std::int64_t begin = now_ns();
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
  print("first reduce", 8, {ms_since(begin)});
  bool right = dest == static_cast<long>(n) * (n - 1) / 2;
  print("barrier", 0, times_of(count, shmem_barrier_all));
  print("reduce", 8, times_of(count, [] { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1); }));
  std::vector<double> broadcasts = times_of(count / kBroadcasts + 1, [] {
    for (int i = 0; i < kBroadcasts; ++i) shmem_long_broadcast(SHMEM_TEAM_WORLD, &dest, &source, 1, 0);
    shmem_sync_all();
  });
  for (double& ms : broadcasts) ms /= kBroadcasts;
  print("broadcast", 8, broadcasts);
  right = right && (shmem_my_pe() == 0 || dest == 0);
  print("fcollect", 8, times_of(count, [&] { shmem_long_fcollect(SHMEM_TEAM_WORLD, all, &source, 1); }));
  for (int pe = 0; pe < n; ++pe) right = right && all[pe] == pe;
  if (!right) std::fprintf(stderr, "bench: PE %d: a wrong result\n", shmem_my_pe());
  shmem_finalize();
  return right ? 0 : 1;
}
