// What a PE does before a thread of it sleeps in a wait: it says in its record what it waits in, leaves a job that has
// ended, and ends one that cannot go on.
#pragma once

#include <sys/types.h>

#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "config/watchdog.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Called once, when the arena's header is mapped. `threads_before`: the threads of the process before the library was
// started.
void watch_waits(windows::Arena& arena, bootstrap::Bootstrap& launcher, std::vector<pid_t> threads_before);
// Called at the end of the first shmem_init: the threads that exist by now beside the former are the library's.
void note_library_threads();
// Called at init: from now on waits of that length are reported.
void set_watchdog(const config::Watchdog& watchdog) noexcept;

// Hooks of the waiting policy. Record the routine that this PE waits in, with its arguments, for the launcher's
// messages, report a wait that takes too long, and end the job if the wait can never complete.
void note_waiting(const char* routine, const bootstrap::Awaited& awaited) noexcept;
void forget_waiting() noexcept;

// Hook of tests. Records what a loop of the program tests in vain, and reports one that takes too long.
void note_vain_tests(const char* routine, const bootstrap::Awaited& awaited, std::uint64_t since_ns) noexcept;

// Hook of the progress threads: answers another process of the machine that asks what the PEs of the job do. Waiting
// PEs do so as well.
void answer_other_processes() noexcept;

// Notes that a PE of another node has said to this one that it has left; called under the endpoint's lock.
void note_announced(int pe);

// The threads of the program that other threads may wait for: all of this process less those of the library.
std::vector<pid_t> program_threads();

}  // namespace shmemx::runtime
