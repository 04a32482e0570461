// Blocks of the symmetric heap that the program gives to free() or realloc() of the C library, which would damage its
// heap, or end the process with a line that names no cause.
#pragma once

namespace shmemx::check {

// Redirects the calls of free() and realloc() that the program and its libraries make by way of the dynamic linker, for
// the rest of the process: blocks of the symmetric heap end the job, others go on to the C library. Objects that are
// loaded later, and executables without the dynamic linker, keep their calls.
void watch_c_library() noexcept;

}  // namespace shmemx::check
