// Counts the connections of the PEs of a job of many nodes, after init, allocations, barriers and reductions of all
// PEs: the most that the leader of a node has, and the most of any other PE.
#include <dirent.h>
#include <shmem.h>
#include <sys/socket.h>

#include <cstdlib>

#include "../support/report.hpp"

namespace {
using namespace shmemx::bench;

constexpr int kRepeats = 100;
long source, dest, most;

// Sockets with a peer on the network: neither those that accept nor those of the launcher.
long connections() {
  long count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(folder)) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (entry->d_name[0] == '.' ||
        getpeername(std::atoi(entry->d_name), reinterpret_cast<sockaddr*>(&peer), &length) != 0)
      continue;
    count += peer.ss_family == AF_INET || peer.ss_family == AF_INET6 ? 1 : 0;
  }
  closedir(folder);
  return count;
}

bool use_all_pes() {
  bool right = true;
  for (int i = 0; i < kRepeats; ++i) {
    void* const block = shmem_malloc(64);
    right = right && block != nullptr;
    source = shmem_my_pe() + i;
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
    const long n = shmem_n_pes();
    right = right && dest == n * (n - 1) / 2 + n * i;
    shmem_free(block);
  }
  return right;
}

void print_most(const char* of, long count) {
  source = count;
  shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &source, 1);
  const auto value = static_cast<double>(most);
  if (shmem_my_pe() == 0) print_result({"scale_connections", shmem_n_pes(), 0, "count", of, "", {value, value, 0, 1}});
}

}  // namespace

int main() {
  shmem_init();
  const bool right = use_all_pes();
  const bool leads = shmem_team_my_pe(SHMEM_TEAM_SHARED) == 0;
  const long count = connections();
  print_most("leader", leads ? count : 0);
  print_most("others", leads ? 0 : count);
  if (!right) std::fprintf(stderr, "bench: PE %d: a wrong result\n", shmem_my_pe());
  shmem_finalize();
  return right ? 0 : 1;
}
