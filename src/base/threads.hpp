// Queries the threads of this process from the kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shmemx {

// Returns true if the main thread has called pthread_exit while the process continues.
bool main_thread_has_ended() noexcept;

// Returns the threads of this process; none if the kernel does not tell. A main thread that has ended is among them
// until the process ends.
std::vector<pid_t> threads_of_process();

// Returns true if no thread runs except those in `known` and the main thread. Returns false if the kernel does not
// tell.
bool only_these_threads_run(std::span<const pid_t> known) noexcept;

// If the thread can be woken by another thread of this process only, returns how often it has given up a core: the
// number is the same later if the thread has not run between. Such a thread has ended, or sleeps on a futex without a
// time limit: in pthread_join, on a mutex or a condition variable.
std::optional<std::uint64_t> switches_if_blocked(pid_t thread) noexcept;

// Returns whether a timer of this process will send it a signal.
bool has_armed_timers() noexcept;

}  // namespace shmemx
