// What the loop of a test works on, and the parts of a test.
#pragma once

#include <shmemx.h>

#include <cstddef>
#include <cstdint>

namespace shmemx::perf {

struct Work {
  std::byte* remote = nullptr;  // a symmetric address, or an address in the peer's window
  std::byte* local = nullptr;   // memory of this PE; symmetric, so that collectives accept it
  std::size_t bytes = 0;
  long burst = 1;  // operations that are completed together, in tests of rates
  int peer = 0;
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  std::uint64_t* signal = nullptr;  // of a ping-pong: counts its rounds on both PEs
  std::uint64_t rounds = 0;
};

enum class Kind : std::uint8_t { one_sided, ping_pong, collective };

using Loop = void (*)(Work&, long iterations);

struct Test {
  const char* name;
  Kind kind;
  std::size_t default_bytes;
  std::size_t unit_bytes;  // sizes are multiples of it; 0: the test has one size
  bool bursts;             // an iteration is a burst of operations
  bool per_pe;             // a collective whose memory is an array of blocks, one for each PE
  Loop loop;               // of the initiator, or of each PE
  Loop other_loop;         // ping-pong: of the other PE; one-sided: on a window, null if there is no such operation
  const char* text;
};

}  // namespace shmemx::perf
