// Descriptors of a launcher that a wrapper has closed in what it starts: processes above this one still have them.
#pragma once

#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {

// Opens the file again that a process above this one has as `fd`: the first for which is_right(descriptor) holds.
// Invalid if there is none, or the kernel does not allow it.
UniqueFd open_from_ancestor(int fd, bool (*is_right)(int fd, const void* job), const void* job);

// Takes a duplicate of the socket `fd` of a process above this one whose environment has the same value of `variable`.
// Invalid if there is none, or the kernel does not allow it: it needs the right to trace that process.
UniqueFd socket_from_ancestor(int fd, const char* variable);

// For diagnostics: what helps if a descriptor of the launcher is closed.
inline constexpr char kKeepDescriptors[] =
    "if a wrapper has closed it, let it keep descriptors: close_fds=False in Python's subprocess, or exec";
// One wrapper may start all PEs, and then all fail alike. PE 0 reports it, and its end ends the job; on other PEs this
// waits a moment for that.
void let_first_pe_speak(int pe);

}  // namespace shmemx::bootstrap
