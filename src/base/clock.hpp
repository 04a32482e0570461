// Monotonic time in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace shmemx {

inline std::uint64_t now_ns() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

// The time in milliseconds, up to a few of them late; takes a few nanoseconds.
inline std::uint64_t coarse_now_ms() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000U + static_cast<std::uint64_t>(t.tv_nsec) / 1'000'000U;
}

}  // namespace shmemx
