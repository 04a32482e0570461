// Mappings that take memory page by page, as pages are touched, whatever the program has locked.
#pragma once

#include <cstddef>

namespace shmemx {

// mmap(2), as the system call itself: interceptors of sanitizers would take a mapping over static data for new memory.
// Where the program locks all future mappings (mlockall(MCL_FUTURE)) the kernel would back all of the range at once and
// count it against RLIMIT_MEMLOCK; this mapping is not locked then. Not for shared mappings without a file. MAP_FAILED
// with EAGAIN: the limit leaves no page.
void* map_on_touch(void* address, std::size_t bytes, int protection, int flags, int fd = -1,
                   std::size_t offset = 0) noexcept;

// Returns true if the program locks all future mappings.
bool locks_future_mappings() noexcept;

// Returns true if `bytes` more may be mapped although the program locks all future mappings, as libraries do that map
// their memory by themselves.
bool may_map_locked(std::size_t bytes) noexcept;

// Locks each page of a range when it is touched, if the program locks all future mappings and its limit allows that.
// Returns false if it is refused.
bool lock_on_touch(void* address, std::size_t bytes) noexcept;

}  // namespace shmemx
