// The cache line size that all PEs of a job agree on, and rounding helpers.
#pragma once

#include <cstddef>

namespace shmemx {

// Not std::hardware_destructive_interference_size: its value may depend on compiler flags, and peers must agree.
inline constexpr std::size_t kCacheLine = 64;
// The largest page size of kernels for this processor. The running kernel's, page_bytes() of base/machine.hpp,
// divides it. Mappings start at multiples of this size, so that layouts do not depend on the kernel.
#if defined(__x86_64__)
inline constexpr std::size_t kPageBytes = 4096;
#else
inline constexpr std::size_t kPageBytes = std::size_t{64} << 10;
#endif
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Precondition: `alignment` is a power of two.
constexpr std::size_t round_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
constexpr std::size_t round_down(std::size_t value, std::size_t alignment) { return value & ~(alignment - 1); }

}  // namespace shmemx
