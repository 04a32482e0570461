// In a barrier over nodes the last PE to arrive on its node signals to the other one, while its leader sleeps.
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

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

// Returns the state of the first thread of a process of this machine: 'S' while it sleeps.
char state_of(long process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", process, process);
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return '?';
  char state = '?';
  if (std::fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
  std::fclose(file);
  return state;
}

void await_sleep_of(const long* process, int pe) {
  long number = 0;
  while ((number = shmem_long_atomic_fetch(process, pe)) == 0 || state_of(number) != 'S') ::sched_yield();
}

}  // namespace

// Two nodes of two PEs. The leaders enter and sleep before the others come.
PE_TEST_MIN(the_last_pe_to_arrive_signals_to_the_other_node, 4) {
  constexpr int kRounds = 5;
  const bool leads = shmem_team_my_pe(SHMEM_TEAM_SHARED) == 0;
  const Symmetric<long> entering(kRounds);
  shmem_barrier_all();
  const long before = sent_segments();
  for (int round = 0; round < kRounds; ++round) {
    if (leads) {
      shmem_long_atomic_set(entering.get() + round, ::getpid(), me());
    } else {
      await_sleep_of(entering.get() + round, me() - 1);
    }
    shmem_sync_all();
  }
  const long sent = sent_segments() - before;
  CHECK(leads || sent >= kRounds);
  shmem_barrier_all();
}

// Some PEs of a node are late by turns, so that each of them is the last one at times; members that are alone on their
// node take part.
PE_TEST_MIN(barriers_hold_whoever_is_late, 2) {
  const Symmetric<long> count(1);
  long bad = 0;
  shmem_barrier_all();
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 20 * ((me() + round) % pes()); ++i) ::sched_yield();
    for (int pe = 0; pe < pes(); ++pe) shmem_long_atomic_inc(count.get(), pe);
    shmem_barrier_all();
    bad += count.get()[0] != static_cast<long>(round + 1) * pes();
    shmem_sync_all();
  }
  CHECK_EQUAL(bad, 0L);
}
