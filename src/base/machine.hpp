// What a PE needs to know of the machine at start and before it hands out memory. Read when needed, cold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shmemx {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::uint64_t total_memory_bytes() noexcept;
// The running kernel's page size; divides kPageBytes.
std::size_t page_bytes() noexcept;
// What the kernel calls available: free, or to be had without swapping.
std::uint64_t free_memory_bytes() noexcept;
// The least of what the kernel calls available and what the control groups still allow.
std::uint64_t available_memory_bytes() noexcept;
// CPU time a second allowed by the control groups, in thousandths of a core; kUnlimited when there is no quota.
std::uint64_t cpu_quota_milli() noexcept;
// The CPUs this process may run on, a bit each. False when the kernel does not say.
bool read_affinity(std::span<std::uint64_t> words) noexcept;
// Is this process run by valgrind? Its tools keep a record of each byte that is mapped.
bool runs_under_valgrind() noexcept;
// RLIMIT_AS, kUnlimited when there is none.
std::uint64_t address_space_limit() noexcept;

}  // namespace shmemx
