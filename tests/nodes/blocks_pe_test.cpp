// Streams of blocks to all PEs of other nodes at once: packets of several sources arrive at each PE side by side.
#include <shmem.h>

#include <vector>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kWords = 256;
constexpr long kRounds = 3;
constexpr long kBlocks = 12000;

PE_TEST_MIN(blocks_of_several_pes_arrive_side_by_side, 2) {
  const Symmetric<long> blocks(static_cast<std::size_t>(pes()) * kWords);
  const auto block_of = [&](int pe) { return blocks.get() + static_cast<std::size_t>(pe) * kWords; };
  std::vector<long> source(kWords);
  for (long round = 1; round <= kRounds; ++round) {
    for (long block = 1; block <= kBlocks; ++block) {
      source.front() = source.back() = round * kBlocks + block;
      const int pe = static_cast<int>((me() + block) % pes());
      shmem_long_put(block_of(me()), source.data(), kWords, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < pes(); ++pe) {
      const long last = kBlocks - ((pe - me() + kBlocks) % pes() + pes()) % pes();
      CHECK_EQUAL(block_of(pe)[0], round * kBlocks + last);
      CHECK_EQUAL(block_of(pe)[kWords - 1], round * kBlocks + last);
    }
    shmem_barrier_all();
  }
}

}  // namespace
