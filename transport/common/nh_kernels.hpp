// The loops of NhHash, one for each kind of CPU. All of them compute the same sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shmemx::transport {

// A sum of carry-less products: 128 bits.
struct NhDigest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct NhKernel {
  const char* name;
  // Sums up `steps` products: 16 bytes at `at` and two words of the key make one.
  NhDigest (*sum)(const std::byte* at, const std::uint64_t* key, std::size_t steps) noexcept;
};

// Returns those that this CPU can run, the slowest one, which needs nothing, first.
std::span<const NhKernel> nh_kernels() noexcept;

}  // namespace shmemx::transport
