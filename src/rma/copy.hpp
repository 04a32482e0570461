// The copy routine: by size, thresholds measured (bench/, docs/decisions/). All bulk data of the library goes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shmemx::rma {

// From this size on copy_large() is used. Set once at init from the configuration.
inline constinit std::size_t large_copy_bytes = std::size_t{1} << 20;

[[gnu::noinline]] void copy_large(void* dest, const void* source, std::size_t bytes) noexcept;

// Aligned copies of 1, 2, 4 and 8 bytes are single stores: programs wait on words that others put.
inline void copy(void* dest, const void* source, std::size_t bytes) noexcept {
  auto* const to = static_cast<unsigned char*>(dest);
  const auto* const from = static_cast<const unsigned char*>(source);
  if (bytes == 8) {
    __builtin_memcpy(to, from, 8);
  } else if (bytes == 4) {
    __builtin_memcpy(to, from, 4);
  } else if (bytes == 2) {
    __builtin_memcpy(to, from, 2);
  } else if (bytes == 1) {
    *to = *from;
  } else if (bytes < large_copy_bytes) {
    std::memcpy(to, from, bytes);
  } else {
    copy_large(to, from, bytes);
  }
}

}  // namespace shmemx::rma
