// Starts public windows: connects src/public_windows with the arena, the configuration and the job.
#pragma once

namespace shmemx::runtime {

// At the first use of windows in the process; any thread. Ends the job if the library is not initialized. Returns false
// if the node's file cannot grow.
bool start_windows(const char* routine) noexcept;

}  // namespace shmemx::runtime
