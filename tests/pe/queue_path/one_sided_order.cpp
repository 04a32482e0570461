// Order and completion of operations that are sent as messages.
#include <pshmem.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr long kRounds = 200;

// Sends `words` longs of value `round`, then the flag; the receiver checks all of them when it sees the flag.
template <class Send>
void expect_data_before_flag(std::size_t words, const Send& send) {
  Symmetric<long> data(words);
  Symmetric<std::uint64_t> flag, seen;
  std::vector<long> source(words);
  for (long round = 1; round <= kRounds; ++round) {
    source.assign(words, round);
    send(data.get(), source, flag.get(), static_cast<std::uint64_t>(round));
    shmem_uint64_wait_until(flag.get(), SHMEM_CMP_EQ, static_cast<std::uint64_t>(round));
    const auto right_ones = std::count(data.get(), data.get() + words, round);
    CHECK_EQUAL(right_ones, static_cast<std::ptrdiff_t>(words));
    // The next round starts after this one has been checked.
    shmem_uint64_p(seen.get(), static_cast<std::uint64_t>(round), left());
    shmem_uint64_wait_until(seen.get(), SHMEM_CMP_EQ, static_cast<std::uint64_t>(round));
  }
}

}  // namespace

PE_TEST(a_flag_put_after_a_fence_is_set_after_the_data) {
  for (const std::size_t words : {1u, 5u, 300u, 6000u}) {
    expect_data_before_flag(words,
                            [](long* data, const std::vector<long>& source, std::uint64_t* flag, std::uint64_t n) {
                              shmem_long_put_nbi(data, source.data(), source.size(), right());
                              shmem_fence();
                              shmem_uint64_p(flag, n, right());
                              shmem_quiet();
                            });
  }
}

PE_TEST(a_flag_set_by_an_atomic_is_set_after_the_data) {
  expect_data_before_flag(700, [](long* data, const std::vector<long>& source, std::uint64_t* flag, std::uint64_t) {
    shmem_long_put(data, source.data(), source.size(), right());
    shmem_fence();
    shmem_uint64_atomic_inc(flag, right());
  });
}

PE_TEST(a_signal_is_set_after_the_data_of_its_put) {
  for (const std::size_t words : {1u, 2u, 9u, 500u, 9001u}) {
    expect_data_before_flag(
        words, [](long* data, const std::vector<long>& source, std::uint64_t* flag, std::uint64_t n) {
          shmem_long_put_signal(data, source.data(), source.size(), flag, n, SHMEM_SIGNAL_SET, right());
        });
    expect_data_before_flag(words, [](long* data, const std::vector<long>& source, std::uint64_t* flag, std::uint64_t) {
      shmem_long_put_signal_nbi(data, source.data(), source.size(), flag, 1, SHMEM_SIGNAL_ADD, right());
      shmem_quiet();
    });
  }
}

PE_TEST(a_put_of_zero_elements_sets_its_signal) {
  Symmetric<std::uint64_t> signal;
  long word = 0;
  shmem_long_put_signal(reinterpret_cast<long*>(signal.get()), &word, 0, signal.get(), 5, SHMEM_SIGNAL_ADD, right());
  CHECK_EQUAL(shmem_signal_wait_until(signal.get(), SHMEM_CMP_NE, 0), 5u);
  shmem_barrier_all();
  shmem_signal_add(signal.get(), 2, right());
  CHECK_EQUAL(shmem_signal_wait_until(signal.get(), SHMEM_CMP_GT, 5), 7u);
}

// A PE that reads its own memory in a loop sees data that arrive in messages, whichever routine it reads with.
PE_TEST(loops_of_reads_see_what_arrives) {
  Symmetric<std::uint64_t> word;
  shmem_barrier_all();
  for (std::uint64_t round = 1; round <= 20; ++round) {
    shmem_uint64_p(word.get(), round, right());
    switch (round % 4) {
      case 0:
        while (shmem_signal_fetch(word.get()) < round) {
        }
        break;
      case 1:
        while (shmem_uint64_g(word.get(), me()) < round) {
        }
        break;
      case 2:
        while (shmem_uint64_atomic_fetch(word.get(), me()) < round) {
        }
        break;
      default:
        while (shmem_uint64_test(word.get(), SHMEM_CMP_GE, round) == 0) {
        }
    }
    CHECK_EQUAL(*word, round);
    shmem_barrier_all();
  }
}

// Store buffering through a third PE's memory: each of two PEs stores and, after quiet, reads the other's word. At
// least one of them must see the other's store.
PE_TEST_MIN(quiet_makes_puts_visible_to_all_pes, 3) {
  Symmetric<long> words(2), seen(2);
  const int place = pes() - 1;
  for (long round = 1; round <= kRounds; ++round) {
    if (me() < 2) {
      const auto self = static_cast<std::size_t>(me());
      shmem_long_p(&words[self], round, place);
      shmem_quiet();
      shmem_long_p(&seen[self], shmem_long_g(&words[1 - self], place), place);
    }
    shmem_barrier_all();
    const long first = shmem_long_g(&seen[0], place);
    const long second = shmem_long_g(&seen[1], place);
    CHECK(first == round || second == round);
    shmem_barrier_all();
  }
}

PE_TEST(quiet_of_one_pe_and_of_one_context_complete_its_gets) {
  constexpr std::size_t kWords = 3000;
  Symmetric<long> data(kWords);
  for (std::size_t i = 0; i < kWords; ++i) data[i] = static_cast<long>(i) * 7 + me();
  shmem_ctx_t context;
  CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context), 0);
  shmem_barrier_all();
  std::vector<long> by_default(kWords), by_context(kWords);
  shmem_long_get_nbi(by_default.data(), data.get(), kWords, right());
  shmem_ctx_long_get_nbi(context, by_context.data(), data.get(), kWords, left());
  const int pe_right = right();
  const int pe_left = left();
  shmem_pe_quiet(&pe_right, 1);
  shmem_ctx_pe_quiet(context, &pe_left, 1);
  for (std::size_t i = 0; i < kWords; ++i) {
    if (!CHECK_EQUAL(by_default[i], static_cast<long>(i) * 7 + right())) break;
    if (!CHECK_EQUAL(by_context[i], static_cast<long>(i) * 7 + left())) break;
  }
  std::vector<long> last(kWords);
  shmem_ctx_long_get_nbi(context, last.data(), data.get(), kWords, right());
  shmem_ctx_destroy(context);
  CHECK(std::memcmp(last.data(), by_default.data(), kWords * sizeof(long)) == 0);
  shmem_barrier_all();
}
