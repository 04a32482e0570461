// Long messages may be placed at the same time: the ordering that fence and signals guarantee nevertheless.
#include <shmem.h>

#include <algorithm>
#include <vector>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kMiBWords = (std::size_t{1} << 20) / sizeof(long);
constexpr std::size_t kSmallWords = (std::size_t{20} << 10) / sizeof(long);  // long for a network, but received quickly
constexpr long kRounds = 40;

std::size_t wrong(const long* block, std::size_t words, long value) {
  return words - static_cast<std::size_t>(std::count(block, block + words, value));
}

// Each round: a block of data, a fence, and a block whose last word is a flag.
void check_flag_behind_data(std::size_t data_words, std::size_t flag_words) {
  long* const data = static_cast<long*>(shmem_malloc(data_words * sizeof(long)));
  long* const flags = static_cast<long*>(shmem_calloc(flag_words, sizeof(long)));
  std::vector<long> source_data(data_words);
  std::vector<long> source_flags(flag_words);
  for (long round = 1; round <= kRounds; ++round) {
    shmem_barrier_all();
    std::fill(source_data.begin(), source_data.end(), round);
    std::fill(source_flags.begin(), source_flags.end(), round);
    shmem_long_put_nbi(data, source_data.data(), data_words, right());
    shmem_fence();
    shmem_long_put_nbi(flags, source_flags.data(), flag_words, right());
    shmem_long_wait_until(flags + flag_words - 1, SHMEM_CMP_EQ, round);
    CHECK_EQUAL(wrong(data, data_words, round), 0u);
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_free(flags);
  shmem_free(data);
}

}  // namespace

PE_TEST(fence_orders_a_flag_in_a_long_block_after_the_data) {
  check_flag_behind_data(kMiBWords, kSmallWords);
  check_flag_behind_data(kMiBWords, kMiBWords);
  check_flag_behind_data(4 * kMiBWords, kSmallWords);
}

// The second of two blocks for one place prevails, whichever arrives first.
PE_TEST(fence_orders_blocks_for_one_place) {
  long* const place = static_cast<long*>(shmem_malloc(kMiBWords * sizeof(long)));
  std::vector<long> first(kMiBWords);
  std::vector<long> second(kSmallWords);
  for (long round = 1; round <= kRounds; ++round) {
    shmem_barrier_all();
    std::fill(first.begin(), first.end(), -round);
    std::fill(second.begin(), second.end(), round);
    shmem_long_put_nbi(place, first.data(), first.size(), right());
    shmem_fence();
    shmem_long_put_nbi(place + kSmallWords, second.data(), second.size(), right());
    shmem_barrier_all();
    CHECK_EQUAL(wrong(place, kSmallWords, -round), 0u);
    CHECK_EQUAL(wrong(place + kSmallWords, kSmallWords, round), 0u);
    CHECK_EQUAL(wrong(place + 2 * kSmallWords, kMiBWords - 2 * kSmallWords, -round), 0u);
  }
  shmem_barrier_all();
  shmem_free(place);
}

// A signal is set after the data of all puts before it.
PE_TEST(signals_of_long_puts_are_set_after_the_puts_before_them) {
  constexpr std::size_t kBlocks = 12;
  long* const blocks = static_cast<long*>(shmem_malloc(kBlocks * kMiBWords / 4 * sizeof(long)));
  auto* const signal = static_cast<std::uint64_t*>(shmem_calloc(1, sizeof(std::uint64_t)));
  std::vector<long> source(kBlocks * kMiBWords / 4);
  for (long round = 1; round <= kRounds; ++round) {
    shmem_barrier_all();
    std::fill(source.begin(), source.end(), round);
    constexpr std::size_t kWords = kMiBWords / 4;
    for (std::size_t i = 0; i + 1 < kBlocks; ++i)
      shmem_long_put_nbi(blocks + i * kWords, source.data() + i * kWords, i % 3 == 2 ? kSmallWords : kWords, right());
    shmem_long_put_signal_nbi(blocks + (kBlocks - 1) * kWords, source.data(), kWords, signal,
                              static_cast<std::uint64_t>(round), SHMEM_SIGNAL_SET, right());
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, static_cast<std::uint64_t>(round));
    CHECK_EQUAL(wrong(blocks + (kBlocks - 1) * kWords, kWords, round), 0u);
    shmem_quiet();
    shmem_barrier_all();
    for (std::size_t i = 0; i + 1 < kBlocks; ++i)
      CHECK_EQUAL(wrong(blocks + i * kWords, i % 3 == 2 ? kSmallWords : kWords, round), 0u);
  }
  shmem_barrier_all();
  shmem_free(signal);
  shmem_free(blocks);
}
