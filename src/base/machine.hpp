// Facts about the machine that a PE needs at start and before it hands out memory. Cold code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shmemx {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::uint64_t total_memory_bytes() noexcept;
// Returns the running kernel's page size, which divides kPageBytes.
std::size_t page_bytes() noexcept;
// Returns the memory that the kernel calls available: free, or reclaimable without swapping.
std::uint64_t free_memory_bytes() noexcept;
// Returns the smaller of free_memory_bytes() and what the control groups still allow.
std::uint64_t available_memory_bytes() noexcept;
// Returns the CPU time per second that the control groups allow, in thousandths of a core; kUnlimited if there is no
// quota.
std::uint64_t cpu_quota_milli() noexcept;
// Returns the size of the first CPU's last cache; 0 if the system does not tell. Other CPUs may share it.
std::uint64_t last_cache_bytes() noexcept;
// Fills `words` with the CPUs this process may run on, one bit each. Returns false if the kernel does not tell.
bool read_affinity(std::span<std::uint64_t> words) noexcept;
// Returns true if valgrind runs this process. Its tools keep a record of each mapped byte.
bool runs_under_valgrind() noexcept;
// Returns true if an emulator of another processor runs this process: it translates signals, and has threads of its
// own.
bool runs_under_emulator() noexcept;
// Return RLIMIT_AS and RLIMIT_MEMLOCK; kUnlimited if there is none.
std::uint64_t address_space_limit() noexcept;
std::uint64_t locked_memory_limit() noexcept;
// Names the limit of locked memory, the usual reason why network hardware refuses memory, behind a cause; empty if
// there is none.
std::string locked_memory_note();

// Returns true if all pages of a range of this process are mapped. One system call.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept;

}  // namespace shmemx
