// What SHMEM_STATS asks for: opens the counters of stats/, and sums up and prints what all PEs have counted.
#pragma once

#include "config/config.hpp"
#include "runtime/nodes.hpp"

namespace shmemx::runtime {

// At each init, before the first context is made. From then on all operations take their cold halves, if something is
// to be observed.
void open_observing(const config::Config& config, int n_pes) noexcept;
// The program begins.
void start_observing() noexcept;

// shmem_pcontrol: 0 pauses, 1 and more go on, 2 and more begin anew.
void control_observing(int level) noexcept;

// At the last finalize, after all PEs have completed their operations: PE 0 prints the summary. Collective.
void report_observed(const char* routine, const Nodes& nodes) noexcept;

}  // namespace shmemx::runtime
