// rails_pe both|rejoin|slow: two PEs on two hosts with two networks. PE 0 puts long blocks, and PE 1 checks them. The
// counters of the interfaces tell which links they use.
//   both    both links are used
//   rejoin  both links are used again after one of them was down
//   slow    the first network is much slower: long blocks and short messages use the other one
#include <shmem.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "request_fault.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWords = std::size_t{1} << 17;  // of a block: 1 MiB
constexpr long kBlocks = 8;                           // of a round
constexpr int kShort = 100;                           // messages of a round
constexpr auto kPatience = std::chrono::seconds(25);

long area[kWords];
long source[kWords];
long word;
int goes_on;
int me;

// Of this host.
std::uint64_t counter(int network, const char* what) {
  std::ifstream file("/sys/class/net/eth" + std::to_string(network) + "/statistics/" + what);
  std::uint64_t value = 0;
  file >> value;
  return value;
}

// Returns which part of what `send` sends leaves by the second network.
double share_of_second(const char* what, const std::function<void()>& send) {
  std::uint64_t sent[2];
  for (int network : {0, 1}) sent[network] = counter(network, what);
  send();
  for (int network : {0, 1}) sent[network] = counter(network, what) - sent[network];
  return static_cast<double>(sent[1]) / static_cast<double>(sent[0] + sent[1] + 1);
}

void put_blocks(long round) {
  for (long i = 0; i < kBlocks; ++i) {
    for (std::size_t at = 0; at < kWords; ++at) source[at] = round * kBlocks + i + static_cast<long>(at);
    shmem_long_put(area, source, kWords, 1);
    shmem_quiet();
  }
}

void check_blocks(long round) {
  for (std::size_t at = 0; at < kWords; ++at) {
    const long expected = round * kBlocks + kBlocks - 1 + static_cast<long>(at);
    if (area[at] == expected) continue;
    std::fprintf(stderr, "rails_pe: round %ld: word %zu is %ld instead of %ld\n", round, at, area[at], expected);
    shmem_global_exit(1);
  }
}

struct Shares {
  double blocks = 0;  // of the second network
  double words = 0;
};

// Repeats rounds until PE 0 finds that `done` holds. Ends the job if that takes too long.
void rounds_until(const char* what, long& round, const std::function<bool(const Shares&)>& done) {
  const Clock::time_point begin = Clock::now();
  Shares shares;
  do {
    if (me == 0) {
      shares.blocks = share_of_second("tx_bytes", [&] { put_blocks(round); });
      shares.words = share_of_second("tx_packets", [] {
        for (int i = 0; i < kShort; ++i) {
          shmem_long_p(&word, i, 1);
          shmem_quiet();
        }
      });
      goes_on = done(shares) ? 0 : Clock::now() - begin < kPatience ? 1 : -1;
      shmem_int_put(&goes_on, &goes_on, 1, 1);
    }
    shmem_barrier_all();
    if (me == 1) check_blocks(round);
    shmem_barrier_all();
    ++round;
  } while (goes_on > 0);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (me == 0)
    std::printf("%s: %s after %.1f s, the second network has %.2f of the blocks, %.2f of the words\n", what,
                goes_on == 0 ? "yes" : "no", seconds, shares.blocks, shares.words);
  std::fflush(stdout);
  if (goes_on < 0) shmem_global_exit(1);
}

// Half of the blocks; a quarter while the speeds are not known yet.
bool uses_both(const Shares& shares) { return shares.blocks > 0.3 && shares.blocks < 0.7; }

void rejoin() {
  long round = 0;
  rounds_until("both links", round, uses_both);
  for (int down : {0, 1}) {
    const std::string link = "h1/" + std::to_string(down);
    if (me == 0) request_fault("cut " + link);
    const auto uses_other = [down](const Shares& one) { return down == 0 ? one.blocks > 0.95 : one.blocks < 0.05; };
    rounds_until("the other link", round, uses_other);
    if (me == 0) request_fault("join " + link);
    rounds_until("both links again", round, uses_both);
  }
}

void slow() {
  long round = 0;
  const auto uses_second = [](const Shares& one) { return one.blocks > 0.85 && one.words > 0.9; };
  rounds_until("the fast link", round, uses_second);
  const Clock::time_point later = Clock::now() + std::chrono::seconds(6);  // the second connection moves, too
  rounds_until("the fast link later", round,
               [&](const Shares& one) { return Clock::now() > later && uses_second(one); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  shmem_init();
  me = shmem_my_pe();
  const std::string phase = argv[1];
  if (phase == "both") {
    long round = 0;
    rounds_until("both links", round, uses_both);
    rounds_until("both links later", round, uses_both);
  } else {
    phase == "slow" ? slow() : rejoin();
  }
  shmem_finalize();
  return 0;
}
