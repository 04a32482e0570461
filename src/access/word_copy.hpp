// Copies where others may look at the same moment: an aligned word of 4 or 8 bytes is one load and one store, since
// programs wait on words that others put, and change them by atomic operations meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "atomic/direct.hpp"

namespace shmemx::access {

inline void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (bytes == 8 && atomic::copy_word<std::uint64_t>(to, from)) return;
  if (bytes == 4 && atomic::copy_word<std::uint32_t>(to, from)) return;
  std::memmove(to, from, bytes);  // a window of one's own may overlap the other side
}

}  // namespace shmemx::access
