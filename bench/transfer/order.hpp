// The coordinator's orders to the two processes of a pair. A fixed size, so one read() takes one order.
#pragma once

#include <cstdint>

#include "arena.hpp"

namespace shmemx::bench {

enum class Command : std::int32_t {
  prepare,    // set the mechanism up (anew) for the whole arena, with `chunk_bytes`
  verify,     // one transfer, every byte and its surroundings checked, at odd addresses
  time,       // transfers for `budget_ms`; series 0 of the local process: ns of each
  set_up,     // `count` times init to finalize; series 0 to 3 of both: ns of init, register, deregister, finalize
  processor,  // `count` transfers back to back; series 0 of both: ns of processor time for each transfer
  disturb,    // `count` re-reads of a working set; series 0 to 2 of both: untouched, evicted, after a transfer
  help,       // whether a transfer ends while the other process computes; series 0 of the local process: 1 or 0
  overlap,    // series 0 of the remote process: its speed during transfers relative to its speed alone
  finish
};

struct Order {
  Command command;
  std::int32_t count;
  std::uint64_t chunk_bytes;
  std::uint64_t bytes;
  double budget_ms;
  Walk walk;
};

constexpr char kDone = 'd';
constexpr char kFailed = 'f';

}  // namespace shmemx::bench
