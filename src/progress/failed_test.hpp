// Tests that fail of what is no word that a program compares, such as a lock.
#pragma once

#include "bootstrap/awaited.hpp"

namespace shmemx::progress {

// People are shown it if it fails over and over. To be called for one of kFailedTests such tests (test_loop.hpp).
[[gnu::noinline, gnu::cold]] void note_failed(const char* routine, const bootstrap::Awaited& awaited) noexcept;

}  // namespace shmemx::progress
