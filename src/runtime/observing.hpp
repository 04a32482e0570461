// What SHMEM_STATS and SHMEM_TRACE ask for: opens the counters of stats/, and sums up and prints what all PEs have
// counted. The trace is in tracing.hpp.
#pragma once

#include "runtime/start.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// At each init, before the first context is made. From then on all operations take their cold halves, if something is
// to be observed.
void open_observing(const StartParameters& parameters, const windows::Arena& arena) noexcept;
// The program begins. Collective where nodes compare their clocks.
void start_observing(const char* routine, const Nodes& nodes) noexcept;

// shmem_pcontrol: 0 pauses, 1 and more go on, 2 and more begin the counters anew.
void control_observing(int level) noexcept;

// At the last finalize, after all PEs have completed their operations: PE 0 prints the summary and writes the trace.
// Collective.
void report_observed(const char* routine, const Nodes& nodes) noexcept;

}  // namespace shmemx::runtime
