// The line about a job in which every PE waits in vain, for SHMEM_CHECK.
#pragma once

#include "windows/arena.hpp"

namespace shmemx::runtime {

// Ends the job. Names a PE that waits for a value, a lock or a message if there is one, since the others' waits often
// follow from it. `routine`: what this PE waits in.
[[noreturn]] void end_deadlock(windows::Arena& arena, const char* routine) noexcept;
// Returns whether a PE of the arena waits in a collective: the comparison of calls may tell more.
bool some_wait_in_collectives(const windows::Arena& arena) noexcept;
// Returns whether a PE of the arena waits for a value in symmetric memory.
bool some_wait_for_values(const windows::Arena& arena) noexcept;

}  // namespace shmemx::runtime
