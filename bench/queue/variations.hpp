// The compared variations: names, and how each process runs its part. `n` is the number of round trips, or of
// messages of each sender.
#pragma once

#include <cstddef>
#include <vector>

#include "path.hpp"

namespace shmemx::bench {

struct Variation {
  const char* name;
  const char* kind;  // latency: `run` does round trips; stream: messages from 1 to 0; bytes: long messages
  std::size_t cell_bytes;
  std::size_t cell_count;
  void (*fill)(Place& place, int processes);
  void (*run)(Place& place, OwnState& own, int me, int senders, long n);
};

constexpr std::size_t kLongMessageBytes = 256 << 10;

std::vector<Variation> pair_variations();
std::vector<Variation> rate_variations();

}  // namespace shmemx::bench
