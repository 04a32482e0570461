// Monotonic time and small helpers against the optimizer.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace shmemx::bench {

inline std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

inline void sleep_ms(long ms) {
  const timespec t{ms / 1000, (ms % 1000) * 1'000'000};
  nanosleep(&t, nullptr);
}

// Makes the compiler assume that `value` is read.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(value) : "memory");
}

// Makes the compiler assume that memory changed.
inline void forget_memory() { asm volatile("" : : : "memory"); }

}  // namespace shmemx::bench
