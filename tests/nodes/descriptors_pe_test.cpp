// PEs that talk to more others than they have descriptors for. TEST_DESCRIPTORS is the hard limit, which each PE sets
// for itself before it starts the library; without it there is no limit.
#include <dirent.h>
#include <shmem.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kRounds = 3;

const int limit_before_init = [] {
  const char* const text = std::getenv("TEST_DESCRIPTORS");
  const int most = text == nullptr ? 0 : std::atoi(text);
  const rlimit limit{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  if (most > 0 && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) std::abort();
  return most;
}();

int open_sockets() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  while (const dirent* const entry = ::readdir(folder)) {
    std::array<char, 64> target{};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size() - 1);
    if (length > 0 && std::string(target.data()).rfind("socket:", 0) == 0) ++count;
  }
  ::closedir(folder);
  return count;
}

// All begin with different targets, and end with an order in which many ask for the same one.
PE_TEST_MIN(all_talk_to_all, 2) {
  const Symmetric<long> from(static_cast<std::size_t>(pes()));
  const Symmetric<long> sum(2);
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 1; i < pes(); ++i) {
      const int pe = round == kRounds ? (i <= me() ? i - 1 : i) : (me() + i) % pes();
      shmem_long_p(from.get() + me(), 1000L * round + me(), pe);
      shmem_long_atomic_add(sum.get(), me() + 1, pe);
      CHECK(shmem_long_atomic_fetch_inc(sum.get() + 1, pe) >= 0);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < pes(); ++pe) {
      if (pe != me()) CHECK_EQUAL(from.get()[pe], 1000L * round + pe);
    }
    CHECK_EQUAL(sum.get()[0], round * (static_cast<long>(pes()) * (pes() + 1) / 2 - (me() + 1)));
    CHECK_EQUAL(sum.get()[1], static_cast<long>(round) * (pes() - 1));
    const int left = (me() + 1) % pes();
    CHECK_EQUAL(shmem_long_g(from.get() + me(), left), 1000L * round + me());
    shmem_barrier_all();
  }
  if (limit_before_init == 0) return;
  int sockets = -1;
  for (int i = 0; i < 1000 && sockets < 0; ++i) {  // the last descriptors may be in use for a moment
    if (i != 0) ::usleep(1000);
    sockets = open_sockets();
  }
  CHECK(sockets > 0 && sockets < limit_before_init);
  if (limit_before_init < pes()) CHECK(sockets < pes() - 1);  // not all that were used are open
}

}  // namespace
