// Begin and end of SHMEM_CHECK in a life of the library.
#pragma once

#include "config/config.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Before the first context is made, and after open_observing(). `heap_bytes`: what the allocator hands out.
void open_checks(const config::Config& config, std::byte* heap, std::uint64_t heap_bytes) noexcept;

// Behind it, by the thread that has called shmem_init.
void check_threads(int thread_level) noexcept;

// Looks at all memory and buffers, and reports leaks. From then on nothing is checked: the end of the library uses the
// heap as no program may. Collective, in shmem_finalize.
void end_checks(const char* routine) noexcept;
// Reports leaks in a PE that ends without shmem_finalize.
void end_checks_at_exit(const char* routine) noexcept;

}  // namespace shmemx::runtime
