// The kernel refuses memory that the program has passed to a routine.
#pragma once

#include <sys/uio.h>

#include <cstddef>

namespace shmemx::tcp {

// Ends the job with a line about the longest of these areas, `n` of them, at least one. `access`: "read", or "written
// to".
[[noreturn, gnu::cold]] void end_with_unmapped(const iovec* areas, std::size_t n, const char* access) noexcept;

}  // namespace shmemx::tcp
