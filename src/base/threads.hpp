// Queries the threads of this process from the kernel.
#pragma once

#include <sys/types.h>

#include <span>

namespace shmemx {

// Returns true if the main thread has called pthread_exit while the process continues.
bool main_thread_has_ended() noexcept;

// Returns true if no thread runs except those in `known` and the main thread. Returns false if the kernel does not
// tell.
bool only_these_threads_run(std::span<const pid_t> known) noexcept;

}  // namespace shmemx
