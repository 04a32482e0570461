// Nonblocking gets and fetching atomics to PEs of other nodes, whose requests and replies travel together.
#include <shmemx.h>

#include <iterator>
#include <numeric>
#include <vector>

#include "../support/computing.hpp"
#include "../support/pe_test.hpp"
#include "../support/random.hpp"

namespace {

using namespace pe_test;

std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

// Of all lengths, from all PEs: short ones share messages, long ones do not.
PE_TEST(nonblocking_gets_bring_what_is_there) {
  constexpr std::size_t kBytes = 40'000;
  constexpr std::size_t kGets = 3000;
  const Symmetric<unsigned char> source(kBytes);
  const auto byte_of = [](std::size_t pe, std::size_t i) {
    return static_cast<unsigned char>(pe * 91 + i * 7 + i / 251);
  };
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = byte_of(at(me()), i);
  shmem_barrier_all();
  struct Get {
    int pe;
    std::size_t from;
    std::vector<unsigned char> found;
  };
  std::vector<Get> gets;
  Random random(static_cast<std::uint64_t>(me()) + 11);
  for (std::size_t k = 0; k < kGets; ++k) {
    const std::size_t longest = k % 100 == 0 ? kBytes / 2 : k % 10 == 0 ? 9000 : 100;
    const std::size_t bytes = random.next() % longest + 1;
    Get& get = gets.emplace_back(static_cast<int>(random.next() % at(pes())), random.next() % (kBytes - bytes));
    get.found.resize(bytes);
    shmem_getmem_nbi(get.found.data(), source.get() + get.from, bytes, get.pe);
  }
  shmem_quiet();
  std::size_t wrong = 0;
  for (const Get& get : gets) {
    for (std::size_t i = 0; i < get.found.size(); ++i) wrong += get.found[i] != byte_of(at(get.pe), get.from + i);
  }
  CHECK_EQUAL(wrong, std::size_t{0});
  shmem_barrier_all();
}

// Each PE takes numbers from a counter of each PE: nobody else gets the same ones, and none is left out.
PE_TEST(nonblocking_fetching_atomics_are_executed_once) {
  constexpr long kEach = 2000;
  const Symmetric<long> counter(1);
  const Symmetric<long> taken(static_cast<std::size_t>(kEach) * at(pes()));
  std::vector<long> numbers(static_cast<std::size_t>(kEach) * at(pes()), -1);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    shmem_long_atomic_fetch_inc_nbi(&numbers[i], counter.get(), static_cast<int>(i % at(pes())));
  shmem_quiet();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK(numbers[i] >= 0 && numbers[i] < kEach * pes());
    shmem_long_atomic_inc(taken.get() + numbers[i], static_cast<int>(i % at(pes())));
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK_EQUAL(taken[i], 1L);
  shmem_barrier_all();
}

PE_TEST(swaps_of_words_that_belong_to_one_pe_return_their_values) {
  constexpr std::size_t kCount = 1000;
  const Symmetric<int> words(kCount * at(pes()));
  int* const mine = words.get() + kCount * at(me());
  std::vector<int> swapped(kCount, -1), compared(kCount, -1), fetched(kCount, -1);
  for (std::size_t i = 0; i < kCount; ++i)
    shmem_int_atomic_swap_nbi(&swapped[i], mine + i, static_cast<int>(i), right());
  shmem_quiet();
  for (std::size_t i = 0; i < kCount; ++i) {
    const int expected = static_cast<int>(i % 2 == 0 ? i : i + 1);  // every second one is another value
    shmem_int_atomic_compare_swap_nbi(&compared[i], mine + i, expected, -7, right());
  }
  shmem_quiet();
  for (std::size_t i = 0; i < kCount; ++i) shmem_int_atomic_fetch_nbi(&fetched[i], mine + i, right());
  shmem_quiet();
  for (std::size_t i = 0; i < kCount; ++i) {
    CHECK_EQUAL(swapped[i], 0);
    CHECK_EQUAL(compared[i], static_cast<int>(i));
    CHECK_EQUAL(fetched[i], i % 2 == 0 ? -7 : static_cast<int>(i));
  }
  shmem_barrier_all();
}

PE_TEST_MIN(nonblocking_gets_and_fetching_atomics_share_messages, 2) {
  constexpr unsigned kCount = 20'000;
  const Symmetric<long> words(100);
  std::vector<long> found(kCount);
  const bool is_sent = shmem_ptr(words.get(), right()) == nullptr;
  // How many share a message depends on when the other PE runs, so one of several turns has to have few messages.
  const auto check_sharing = [&](auto operation) {
    constexpr int kMostTurns = 5;
    bool has_shared = false;
    for (int turn = 0; turn < kMostTurns && !has_shared; ++turn) {
      shmemx_net_stats_t before{};
      shmemx_net_stats_t after{};
      shmemx_net_stats(&before);
      for (unsigned i = 0; i < kCount; ++i) operation(&found[i], words.get() + i % 100);
      shmem_quiet();
      shmemx_net_stats(&after);
      CHECK(after.operations - before.operations >= (is_sent ? kCount * 9 / 10 : 0U));
      has_shared = after.messages - before.messages < kCount / 10;
    }
    CHECK(has_shared);
  };
  check_sharing([](long* to, long* word) { shmem_long_get_nbi(to, word, 1, right()); });
  check_sharing([](long* to, long* word) { shmem_long_atomic_fetch_add_nbi(to, word, 1, right()); });
  shmem_barrier_all();
}

PE_TEST_MIN(nonblocking_gets_end_without_a_further_call, 2) {
  static long found[100] = {};
  const Symmetric<long> words(100);
  for (std::size_t i = 0; i < 100; ++i) words[i] = 1;
  shmem_barrier_all();
  for (int round = 0; round < 20; ++round) {
    for (long& word : found) word = 0;
    for (std::size_t i = 0; i < 100; ++i) shmem_long_get_nbi(found + i, words.get() + i, 1, right());
    for (const long& word : found) compute_until(word, 1);
    shmem_quiet();
    CHECK_EQUAL(std::accumulate(std::begin(found), std::end(found), 0L), 100L);
  }
  shmem_barrier_all();
}

}  // namespace
