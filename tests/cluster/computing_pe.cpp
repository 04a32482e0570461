// computing_pe loss|cut FILE: two PEs on two hosts. PE 0 sends a word and computes, without a call of the library,
// until PE 1 tells it through the file, which both map, that the word is there. What gets lost on the way is sent again
// meanwhile, and not when PE 0 calls the library again.
//   loss  the network loses many frames
//   cut   the hosts have two networks, and the link that carries the word is cut
#include <fcntl.h>
#include <shmem.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "request_fault.hpp"

namespace {

constexpr long kMillisecond = 1'000'000;
constexpr int kRounds = 60;
constexpr long kMostNs = 10'000 * kMillisecond;  // many times as long as it takes where other programs need the cores

long word;

// The last word that has arrived. Null if the file cannot be mapped.
using Arrived = std::atomic<long>;
static_assert(Arrived::is_always_lock_free);

Arrived* map_arrived(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Arrived)) != 0) return nullptr;
  void* const memory = ::mmap(nullptr, sizeof(Arrived), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Arrived*>(memory);
}

long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Returns how long it took until `done` returns true, or that it took too long.
template <class Done>
long compute_until(Done done) {
  const long begin = now_ns();
  while (!done() && now_ns() - begin < kMostNs) {
  }
  return now_ns() - begin;
}

void compute(long ns) {
  const long end = now_ns() + ns;
  compute_until([end] { return now_ns() >= end; });
}

// Returns how long PE 0 had to compute; 0 at PE 1. `computes_ns`: PE 0 computes before, so that no thread of the
// library polls.
long send_word(Arrived& arrived, long value, long computes_ns, const char* fault) {
  long taken = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    compute(computes_ns);
    if (fault != nullptr) request_fault(fault);
    if (fault != nullptr) compute(50 * kMillisecond);
    shmem_long_put_nbi(&word, &value, 1, 1);
    taken = compute_until([&] { return arrived == value; });
    shmem_quiet();
  } else {
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, value);
    arrived = value;
  }
  shmem_barrier_all();
  return taken;
}

long longest_of_lossy(Arrived& arrived) {
  long longest = 0;
  for (long i = 1; i <= kRounds && longest < kMostNs; ++i) {
    const long taken = send_word(arrived, i, 8 * kMillisecond, nullptr);
    if (taken > longest) longest = taken;
  }
  return longest;
}

long longest_of_cut(Arrived& arrived) {
  send_word(arrived, 1, 0, nullptr);
  return send_word(arrived, 2, 100 * kMillisecond, "cut h1/0");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  shmem_init();
  Arrived* const arrived = map_arrived(argv[2]);
  if (arrived == nullptr) {
    std::perror(argv[2]);
    return 2;
  }
  if (shmem_my_pe() == 0) *arrived = 0;
  const long longest = std::strcmp(argv[1], "cut") == 0 ? longest_of_cut(*arrived) : longest_of_lossy(*arrived);
  const bool is_sent_again = longest < kMostNs;
  if (shmem_my_pe() == 0) std::printf("a word took %.1f ms at most\n", static_cast<double>(longest) / kMillisecond);
  if (!is_sent_again) std::fprintf(stderr, "computing_pe: what is lost is not sent again while PE 0 computes\n");
  std::fflush(stdout);
  shmem_finalize();
  return is_sent_again ? 0 : 1;
}
