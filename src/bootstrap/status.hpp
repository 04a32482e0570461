// What the PEs of an arena do at this moment, as lines for people: which ones wait, in what and since when, which
// compute, which have ended. For oshrun, and for a PE that reports a wait that takes too long. Broken programs may have
// written the records, so no value is trusted to be a text or in range.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {

// Returns numbers as "0, 2..5".
std::string list_pes(const std::vector<int>& pes);

// Returns the name as far as it can be one of a routine.
std::string valid_name(const RoutineName& name);

// Returns the routine that a PE waits in; empty if it does not wait.
std::string waiting_routine(const JobHeader* header, const PeRecord& record);

struct PeActivity {
  int pe;
  pid_t pid;                     // 0: it has never called shmem_init
  std::string routine;           // that it waits in, or calls over and over; else empty
  std::string doing;             // if it does not wait; kPolling: it calls the routine over and over
  std::uintptr_t site = 0;       // where the program called the routine; 0: not known
  std::uint64_t waited_ns = 0;   // so far; 0: not known
  Awaited awaited{};             // the arguments of the routine
  std::uint64_t heap_used = 0;   // bytes of the symmetric heap
  std::uint64_t heap_limit = 0;  // 0: there is no heap
  std::string host{};            // empty: all are on one
  std::string executable{};      // a path to open it by; empty: that of the process
};
inline constexpr char kPolling[] = "polling";
// By what the record says, and the state of the process. `polling`: what the same PE says of loops of tests; may be
// null.
PeActivity activity_of(const JobHeader* header, const PeRecord& record, int pe, const PollingLoop* polling = nullptr);

// Returns a line for each group of PEs that do the same, such as "pe 0, 2..5: waiting in shmem_barrier_all, called at
// main (ring.c:12), for 11 s", the largest first, and one that names a PE that alone keeps the others waiting.
std::vector<std::string> describe(const std::vector<PeActivity>& activities);

}  // namespace shmemx::bootstrap
