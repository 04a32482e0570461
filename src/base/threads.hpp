// The threads of this process, as the system lists them.
#pragma once

#include <sys/types.h>

#include <span>

namespace shmemx {

// Returns true if the main thread has ended, by pthread_exit, while the process goes on.
bool main_thread_has_ended() noexcept;

// Returns true if no thread runs but those in `known` and the main thread. False where the system does not say.
bool only_these_threads_run(std::span<const pid_t> known) noexcept;

}  // namespace shmemx
