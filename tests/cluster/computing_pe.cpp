// computing_pe loss|cut: two PEs on two hosts. PE 0 sends a word and computes, without a call of the library. What gets
// lost on the way is sent again meanwhile, and not when PE 0 calls the library again.
//   loss  the network loses many frames
//   cut   the hosts have two networks, and the link that carries the word is cut
// The value of the word is the time when it was sent: all hosts have the clock of one machine.
#include <shmem.h>
#include <shmemx.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "request_fault.hpp"

namespace {

constexpr long kMillisecond = 1'000'000;
constexpr int kRounds = 60;
constexpr int kMostLate = kRounds / 10;       // a frame may be lost several times
constexpr long kLateNs = 15 * kMillisecond;   // the first time to send again is 1 ms
constexpr long kCutNs = 1500 * kMillisecond;  // 0.4 s if no other program needs the cores

long sent_at;

long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void compute(long ns) {
  for (const long end = now_ns() + ns; now_ns() < end;) {
  }
}

// Returns how long the word was on its way, at PE 1. `computes_ns`: PE 0 computes before, so that no thread of the
// library polls.
long send_word(long computes_ns, long computes_after_ns, const char* fault) {
  const long before = sent_at;
  shmem_barrier_all();
  long taken = 0;
  if (shmem_my_pe() == 0) {
    compute(computes_ns);
    if (fault != nullptr) request_fault(fault);
    if (fault != nullptr) compute(50 * kMillisecond);
    const long now = now_ns();
    shmem_long_put_nbi(&sent_at, &now, 1, 1);
    compute(computes_after_ns);
    shmem_quiet();
  } else {
    shmem_long_wait_until(&sent_at, SHMEM_CMP_NE, before);
    taken = now_ns() - sent_at;
  }
  shmem_barrier_all();
  return taken;
}

bool survives_loss() {
  int late = 0;
  long longest = 0;
  for (int i = 0; i < kRounds; ++i) {
    const long taken = send_word(8 * kMillisecond, 30 * kMillisecond, nullptr);
    if (taken > kLateNs) ++late;
    longest = std::max(longest, taken);
  }
  if (shmem_my_pe() == 1)
    std::printf("%d of %d words came late, the longest took %.1f ms\n", late, kRounds,
                static_cast<double>(longest) / kMillisecond);
  return late <= kMostLate;
}

bool survives_cut() {
  send_word(0, 0, nullptr);
  const long taken = send_word(100 * kMillisecond, 3000 * kMillisecond, "cut h1/0");
  if (shmem_my_pe() == 1) std::printf("the word took %.1f ms\n", static_cast<double>(taken) / kMillisecond);
  return taken < kCutNs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  shmem_init();
  const bool is_in_time = std::strcmp(argv[1], "cut") == 0 ? survives_cut() : survives_loss();
  if (!is_in_time) std::fprintf(stderr, "computing_pe: words are sent again too late\n");
  std::fflush(stdout);
  shmem_finalize();
  return is_in_time ? 0 : 1;
}
