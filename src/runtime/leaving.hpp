// How a PE leaves: diagnostics that end the job, global_exit, process exit, fork; and what others learn of it.
#pragma once

#include <cstdint>
#include <string>

#include "am/channel.hpp"
#include "bootstrap/bootstrap.hpp"
#include "runtime/nodes.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// How long words to PEs of other nodes have to leave this machine.
inline constexpr std::uint32_t kPatienceMs = 1000;

// From now on diagnostics of this process end the job, and its exit is noticed. Called once, when the arena's header is
// mapped.
void watch_for_the_end(windows::Arena& arena, bootstrap::Bootstrap& launcher) noexcept;

// From now on a forked child that calls the library ends with a diagnostic. To be called after the static data are
// shared: handlers in the child run in the order they were registered, and with a statically linked library this one
// writes shared globals unless the one of the static data has run before.
void disown_forked_children() noexcept;

// Hooks of the waiting policy: what this PE waits in, for the launcher's message; and whether it can still come.
void note_waiting(const char* routine) noexcept;
void forget_waiting() noexcept;

// A PE of another node cannot be reached any more: ends the job, after a moment in which whoever knows better may say
// why.
void end_for_lost(int pe, const std::string& cause) noexcept;
// A PE of another node has said how far it is.
void note_stage(int pe, const am::StageNote& note) noexcept;
// Where the PEs are, for the lines of both. `nodes` outlives the job.
void name_hosts(const Nodes& nodes) noexcept;

// Called last in a process that exits in order: finalizes if the program has not. By job.cpp.
void finalize_at_exit() noexcept;

}  // namespace shmemx::runtime
