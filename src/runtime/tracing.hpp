// What SHMEM_TRACE asks for: the ring of this PE, the clocks of the nodes, and the trace at the end.
#pragma once

#include "config/config.hpp"
#include "runtime/nodes.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// At each init, when counters are open. Returns false if there can be no trace, after a warning.
bool open_trace(const config::Config& config, const Nodes& nodes, const windows::Arena& arena) noexcept;

// Finds out how the clocks of the nodes differ, before the program begins or after it has ended. Collective.
enum class ClockTime { start, end };
void align_clocks(const char* routine, const Nodes& nodes, ClockTime time) noexcept;

// At the last finalize, when nothing is observed any more: PE 0 writes the trace. Collective.
void finish_trace(const char* routine, const Nodes& nodes) noexcept;

}  // namespace shmemx::runtime
