// Atomics that the target executes: from several PEs at once, mixed with those of the target on its own memory.
#include <pshmem.h>

#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;

constexpr int kRounds = 200;

long static_sum;  // static data are a separate window

// Every PE adds to the word of every PE, including its own.
template <class T, class Add>
void expect_exact_sum(T* word, const Add& add) {
  *word = 0;
  shmem_barrier_all();
  for (int round = 0; round < kRounds; ++round) {
    for (int pe = 0; pe < pes(); ++pe) add(word, static_cast<T>(me() + 1), pe);
  }
  shmem_barrier_all();
  CHECK_EQUAL(*word, static_cast<T>(kRounds) * static_cast<T>(pes() * (pes() + 1) / 2));
  shmem_barrier_all();
}

}  // namespace

PE_TEST(sums_of_all_pes_are_exact) {
  Symmetric<long> longs;
  Symmetric<int> ints;
  Symmetric<unsigned> words;
  Symmetric<unsigned long long> wide;
  expect_exact_sum(longs.get(), [](long* word, long value, int pe) { shmem_long_atomic_add(word, value, pe); });
  expect_exact_sum(&static_sum, [](long* word, long value, int pe) { shmem_long_atomic_add(word, value, pe); });
  expect_exact_sum(ints.get(), [](int* word, int value, int pe) { shmem_int_atomic_fetch_add(word, value, pe); });
  expect_exact_sum(wide.get(), [](unsigned long long* word, unsigned long long value, int pe) {
    shmem_ulonglong_atomic_add(word, value, pe);
  });
  expect_exact_sum(words.get(), [](unsigned* word, unsigned value, int pe) {
    unsigned seen = shmem_uint_atomic_fetch(word, pe);
    for (;;) {
      const unsigned before = shmem_uint_atomic_compare_swap(word, seen, seen + value, pe);
      if (before == seen) return;
      seen = before;
    }
  });
}

// Fetching forms on one counter: each number is returned exactly once.
PE_TEST(numbers_drawn_from_one_counter_are_unique) {
  Symmetric<long> counter;
  const auto total = static_cast<std::size_t>(kRounds * pes());
  Symmetric<long> drawn_by(total);
  for (int round = 0; round < kRounds; ++round) {
    const long number = shmem_long_atomic_fetch_inc(counter.get(), 0);
    if (CHECK(number >= 0 && number < static_cast<long>(total))) {
      const long before = shmem_long_atomic_swap(&drawn_by[static_cast<std::size_t>(number)], me() + 1, pes() - 1);
      CHECK_EQUAL(before, 0);
    }
  }
  shmem_barrier_all();
  if (me() == pes() - 1) {
    for (std::size_t i = 0; i < total; ++i) CHECK(drawn_by[i] != 0);
  }
}

// More requests than the library's table holds, before any PE waits.
PE_TEST(many_nbi_fetches_get_all_their_values) {
  constexpr std::size_t kFetches = 1500;
  Symmetric<std::uint64_t> counters(static_cast<std::size_t>(pes()));
  std::vector<std::uint64_t> values(kFetches, ~std::uint64_t{0});
  std::uint64_t* const own = &counters[static_cast<std::size_t>(me())];
  for (std::size_t i = 0; i < kFetches; ++i) shmem_uint64_atomic_fetch_add_nbi(&values[i], own, 3, right());
  shmem_quiet();
  for (std::size_t i = 0; i < kFetches; ++i) CHECK_EQUAL(values[i], 3 * i);
  CHECK_EQUAL(shmem_uint64_g(own, right()), 3 * kFetches);
}

// Fence orders the operations at the target, even if their replies arrive late.
PE_TEST(nbi_fetches_and_sets_keep_their_order) {
  constexpr std::size_t kWords = 600;
  Symmetric<int> words(kWords);
  std::vector<int> before(kWords, -1);
  for (std::size_t i = 0; i < kWords; ++i) {
    shmem_int_atomic_swap_nbi(&before[i], &words[i], 1, right());
    shmem_fence();
    shmem_int_p(&words[i], 2, right());
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < kWords; ++i) {
    CHECK_EQUAL(words[i], 2);
    CHECK_EQUAL(before[i], 0);
  }
}

PE_TEST(bitwise_operations_of_all_pes_take_effect) {
  Symmetric<std::uint64_t> set, cleared, flipped;
  *set = 0;
  *cleared = ~std::uint64_t{0};
  *flipped = 0;
  shmem_barrier_all();
  const std::uint64_t bit = std::uint64_t{1} << (me() % 64);
  for (int pe = 0; pe < pes(); ++pe) {
    shmem_uint64_atomic_or(set.get(), bit, pe);
    shmem_uint64_atomic_and(cleared.get(), ~bit, pe);
    for (int i = 0; i < 3; ++i) shmem_uint64_atomic_xor(flipped.get(), bit, pe);
  }
  shmem_barrier_all();
  const std::uint64_t all = pes() >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pes()) - 1;
  CHECK_EQUAL(*set, all);
  CHECK_EQUAL(*cleared, ~all);
  if (pes() <= 64) CHECK_EQUAL(*flipped, all);
}

PE_TEST(values_of_all_widths_and_floats_arrive_unchanged) {
  Symmetric<float> narrow;
  Symmetric<double> wide;
  Symmetric<std::int32_t> negative;
  shmem_float_atomic_set(narrow.get(), 0.1F * static_cast<float>(me() + 1), right());
  shmem_double_atomic_set(wide.get(), -1.0 / (me() + 3), right());
  shmem_int32_atomic_add(negative.get(), -7 * (me() + 1), right());
  shmem_barrier_all();
  CHECK_EQUAL(*narrow, 0.1F * static_cast<float>(left() + 1));
  CHECK_EQUAL(*wide, -1.0 / (left() + 3));
  CHECK_EQUAL(*negative, -7 * (left() + 1));
  shmem_barrier_all();
  CHECK_EQUAL(shmem_double_atomic_swap(wide.get(), 2.5, right()), -1.0 / (me() + 3));
  CHECK_EQUAL(shmem_float_atomic_fetch(narrow.get(), right()), 0.1F * static_cast<float>(me() + 1));
  CHECK_EQUAL(shmem_int32_atomic_fetch_add(negative.get(), 1, right()), -7 * (me() + 1));
  shmem_barrier_all();
}
