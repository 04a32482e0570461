// Keeps the static data of a forked child apart from those of its parent: the child gets a private copy as of the
// moment of the fork, with the protections that its pages have then.
//
// The handlers are registered before any other of the program (docs/decisions/0073-first-of-all-fork-handlers.md), so
// that the copy is taken after all others have prepared the fork (they take locks and write globals), and the child has
// it before any of them runs there.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "windows/static_data.hpp"

namespace shmemx::windows {

// Prepares the copies. Fails if the handlers could not be registered or there is no memory. Called once, before
// guard_forks().
Status open_fork_guard();

// From now on children get copies of these ranges of memory, which are mapped from the file. Writes no global: in a
// static executable those of the library belong to the ranges. `file_offset`: of the first range's begin.
void guard_forks(std::span<const StaticRange> ranges, int fd, std::size_t file_offset) noexcept;

// From now on `run` is called in each child, after it has got its copy and before all other handlers. Data need not be
// shared for that.
void run_in_children(void (*run)()) noexcept;

// What the shared library exports as _Fork(), which runs no handlers: hence the visibility. May be called in a signal
// handler.
[[gnu::visibility("default")]] pid_t guarded_fork() noexcept;

}  // namespace shmemx::windows
