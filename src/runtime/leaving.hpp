// How a PE leaves the job: diagnostics that end the job, global_exit, process exit and fork, and how other PEs learn
// of it.
#pragma once

#include <cstdint>
#include <string>

#include "am/endpoint.hpp"
#include "bootstrap/bootstrap.hpp"
#include "runtime/nodes.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// How long messages to PEs of other nodes may take to leave this machine.
inline constexpr std::uint32_t kPatienceMs = 1000;

// Makes diagnostics of this process end the job, and watches for the process's exit. Called once, when the arena's
// header is mapped.
void watch_for_the_end(windows::Arena& arena, bootstrap::Bootstrap& launcher) noexcept;

// Makes a forked child that calls the library end with a diagnostic.
void disown_forked_children() noexcept;

// Ends the job because a PE of another node is unreachable. Waits a moment first, so that a PE or launcher that knows
// the cause can report it.
void end_for_lost(int pe, const std::string& cause) noexcept;
// Records the stage that a PE of another node has announced.
void note_stage(int pe, const am::StageNote& note) noexcept;
// Provides the host names for the diagnostics of both functions above. `nodes` outlives the job.
void name_hosts(const Nodes& nodes) noexcept;
// Returns the host of a PE as its launcher names it; empty before the former.
std::string host_of(int pe);

// Finalizes if the program has not. The last call in a process that exits normally; defined in job.cpp.
void finalize_at_exit() noexcept;

}  // namespace shmemx::runtime
