// Measures operations of PE 0 on a PE of its node, and collectives of a team of the two, while all other PEs sleep: to
// be run in a job of one node and in one of several. Prints nanoseconds.
#include <shmem.h>

#include <vector>

#include "../support/clock.hpp"
#include "../support/report.hpp"

namespace {
using namespace shmemx::bench;

constexpr int kPeer = 1;
constexpr int kSamples = 301;
constexpr std::size_t kLongBytes = 4096;

void print(const char* what, std::size_t bytes, std::vector<double> samples) {
  if (shmem_my_pe() == 0)
    print_result({"node_peer", shmem_n_pes(), bytes, "ns", what, "", summarize(std::move(samples), false)});
}

// Returns the mean duration of a call for each of the samples.
template <class Call>
std::vector<double> times_of(int calls, const Call& call) {
  std::vector<double> samples;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < calls; ++i) call(i);
    samples.push_back(static_cast<double>(now_ns() - begin) / calls);
  }
  return samples;
}

void measure_operations(long* word, std::byte* block) {
  constexpr int kCalls = 500;
  std::byte local[kLongBytes] = {};
  volatile long sink = 0;
  print("p", 8, times_of(kCalls, [&](int i) { shmem_long_p(word, i, kPeer); }));
  print("g", 8, times_of(kCalls, [&](int) { sink = shmem_long_g(word, kPeer); }));
  print("get", 8, times_of(kCalls, [&](int) { shmem_getmem(local, word, 8, kPeer); }));
  print("get", kLongBytes, times_of(kCalls, [&](int) { shmem_getmem(local, block, kLongBytes, kPeer); }));
  print("put", kLongBytes, times_of(kCalls, [&](int) { shmem_putmem(block, local, kLongBytes, kPeer); }));
  print("fadd", 8, times_of(kCalls, [&](int) { sink = shmem_long_atomic_fetch_add(word, 1, kPeer); }));
  print("fetch", 8, times_of(kCalls, [&](int) { sink = shmem_long_atomic_fetch(word, kPeer); }));
  print("put_quiet", 8, times_of(kCalls, [&](int) {
          shmem_putmem(word, local, 8, kPeer);
          shmem_quiet();
        }));
}

void measure_team(shmem_team_t pair, long* words) {
  constexpr int kCalls = 20;
  print("team_barrier", 0, times_of(kCalls, [&](int) { shmem_team_sync(pair); }));
  print("team_reduce", 8, times_of(kCalls, [&](int) { shmem_long_sum_reduce(pair, words, words + 1, 1); }));
}

}  // namespace

int main() {
  shmem_init();
  auto* const words = static_cast<long*>(shmem_calloc(2, sizeof(long)));
  auto* const block = static_cast<std::byte*>(shmem_calloc(kLongBytes, 1));
  shmem_team_t pair = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, nullptr, 0, &pair);
  if (shmem_ptr(words, kPeer) == nullptr && shmem_my_pe() == 0)
    std::fprintf(stderr, "bench: PE 1 is on another node\n");
  shmem_barrier_all();
  if (shmem_my_pe() == 0) measure_operations(words, block);
  shmem_barrier_all();
  if (pair != SHMEM_TEAM_INVALID) measure_team(pair, words);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
