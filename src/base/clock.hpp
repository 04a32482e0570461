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

}  // namespace shmemx
