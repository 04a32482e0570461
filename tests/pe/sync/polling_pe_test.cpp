// A token passes around a ring by every routine that a program can poll with instead of waiting. With more PEs than
// cores, a PE that polls without yielding its core costs a time slice for each hop, and the run exceeds its time limit.
#include <shmemx.h>

#include "../../support/pe_test.hpp"

using namespace pe_test;

namespace {

constexpr long kRounds = 400;

// `reached(word, value)` checks once whether the word has the value, on this PE or on its left neighbour.
template <class Reached>
void pass_token_round(bool on_left, Reached reached) {
  Symmetric<long> token;
  shmem_barrier_all();
  const int holder = on_left ? left() : me();
  for (long round = 1; round <= kRounds; ++round) {
    if (me() != 0) {
      while (!reached(token.get(), round, holder)) {
      }
    }
    shmem_long_p(token.get(), round, on_left ? me() : right());
    if (me() == 0) {
      while (!reached(token.get(), round, holder)) {
      }
    }
  }
  CHECK_EQUAL(shmem_long_g(token.get(), holder), kRounds);
  shmem_barrier_all();
}

}  // namespace

PE_TEST(a_loop_of_tests_lets_others_run) {
  pass_token_round(false,
                   [](long* token, long value, int) { return shmem_long_test(token, SHMEM_CMP_GE, value) != 0; });
}

PE_TEST(a_loop_of_tests_of_arrays_lets_others_run) {
  pass_token_round(false, [](long* token, long value, int) {
    return shmem_long_test_any(token, 1, nullptr, SHMEM_CMP_GE, value) == 0;
  });
}

PE_TEST(a_loop_of_tests_of_events_lets_others_run) {
  pass_token_round(false, [](long* token, long value, int) {
    shmemx_event_t event{};
    event.kind = SHMEMX_EVENT_VALUE;
    event.object = token;
    event.type = SHMEMX_INT64;
    event.comparison = SHMEM_CMP_GE;
    event.reference = value;
    return shmemx_event_test(&event, 1) == 0;
  });
}

PE_TEST(a_loop_that_reads_the_own_word_lets_others_run) {
  pass_token_round(false, [](long* token, long value, int pe) { return shmem_long_g(token, pe) >= value; });
}

PE_TEST(a_loop_that_reads_the_word_of_a_neighbour_lets_others_run) {
  pass_token_round(true, [](long* token, long value, int pe) { return shmem_long_g(token, pe) >= value; });
}

PE_TEST(a_loop_of_gets_lets_others_run) {
  pass_token_round(true, [](long* token, long value, int pe) {
    long seen = 0;
    shmem_long_get(&seen, token, 1, pe);
    return seen >= value;
  });
}

PE_TEST(a_loop_of_atomic_fetches_lets_others_run) {
  pass_token_round(false, [](long* token, long value, int pe) { return shmem_long_atomic_fetch(token, pe) >= value; });
}

PE_TEST(a_loop_of_failing_compare_swaps_lets_others_run) {
  pass_token_round(false, [](long* token, long value, int pe) {
    return shmem_long_atomic_compare_swap(token, value, value, pe) == value;
  });
}

PE_TEST(a_loop_of_swaps_that_change_nothing_lets_others_run) {
  Symmetric<long> lock;
  Symmetric<long> count;
  for (long round = 0; round < kRounds / 4; ++round) {
    while (shmem_long_atomic_swap(lock.get(), 1, 0) != 0) {
    }
    shmem_long_p(count.get(), shmem_long_g(count.get(), 0) + 1, 0);
    shmem_quiet();
    shmem_long_atomic_set(lock.get(), 0, 0);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(count.get(), 0), kRounds / 4 * pes());
}

PE_TEST(a_loop_that_fetches_a_signal_lets_others_run) {
  Symmetric<std::uint64_t> signal;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    if (me() != 0) {
      while (shmem_signal_fetch(signal.get()) < round) {
      }
    }
    shmem_uint64_p(signal.get(), round, right());
    if (me() == 0) {
      while (shmem_signal_fetch(signal.get()) < round) {
      }
    }
  }
  CHECK_EQUAL(*signal, static_cast<std::uint64_t>(kRounds));
}
