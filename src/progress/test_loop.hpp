// Loops of the program that test a value repeatedly instead of waiting for it.
#pragma once

#include <cstdint>

#include "progress/policy.hpp"

namespace shmemx::progress {

// Counts tests that got the same answer as the one before. After some in a row, with nothing but tests in between, the
// program waits: then this gives the core to others before it returns. `what` is the address that was read (null: any),
// `answer` what was read. A program that works between its tests never loses the core here. Returns whether the last
// test of this word got the same answer.
[[gnu::noinline, gnu::cold]] bool repeated_test(const void* what, std::uint64_t answer) noexcept;

// Handles messages, but only some microseconds after this thread has last done so here: for operations that a program
// may repeat, where no progress thread handles them.
[[gnu::noinline, gnu::cold]] void poll_at_intervals() noexcept;

// Handles messages after a test that succeeded. It may belong to a loop as well, one that goes on while it does.
[[gnu::noinline, gnu::cold]] void test_succeeded_slow() noexcept;
inline void test_succeeded() noexcept {
  if (policy().crowded || message_poll() != nullptr) [[unlikely]]
    test_succeeded_slow();
}

// Handles messages after a test that failed: they may bring what is tested.
[[gnu::noinline, gnu::cold]] void test_failed_slow() noexcept;
inline void test_failed() noexcept {
  if (policy().crowded || message_poll() != nullptr) [[unlikely]]
    test_failed_slow();
}

}  // namespace shmemx::progress
