// Loops whose instructions callgrind counts: each is dumped under its name with its length, once short and once long.
#pragma once

#include <valgrind/callgrind.h>

#include <cstdio>

#include "work.hpp"

namespace shmemx::bench {

inline constexpr long kShort = 1000;
inline constexpr long kLong = 3000;

// `between`: called in front of each, and not counted.
inline void count(
    const char* name, void (*loop)(Work&, long), Work& work, void (*between)() = [] {}) {
  loop(work, kShort);  // resolves symbols, asks for keys, makes requests
  for (const long iterations : {kShort, kLong}) {
    between();
    char label[64];
    std::snprintf(label, sizeof label, "%s %ld", name, iterations);
    CALLGRIND_ZERO_STATS;
    loop(work, iterations);
    CALLGRIND_DUMP_STATS_AT(label);
  }
}

}  // namespace shmemx::bench
