// Copies of short blocks without a call.
#pragma once

#include <cstddef>
#include <cstring>

namespace shmemx::interpose {

// Copies words by single stores and loads, since a program may poll them, and a few blocks of other sizes that are
// frequent in strided data. Returns false for all other sizes.
[[gnu::always_inline]] inline bool try_copy_words(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 8:
      std::memcpy(to, from, 8);
      return true;
    case 4:
      std::memcpy(to, from, 4);
      return true;
    case 16:
      std::memcpy(to, from, 16);
      return true;
    case 32:
      std::memcpy(to, from, 32);
      return true;
    case 64:
      std::memcpy(to, from, 32);  // at once it would be a string instruction, which takes long to start
      std::memcpy(static_cast<std::byte*>(to) + 32, static_cast<const std::byte*>(from) + 32, 32);
      return true;
    default:
      return false;
  }
}

inline void copy_block(void* to, const void* from, std::size_t bytes) noexcept {
  if (!try_copy_words(to, from, bytes)) std::memcpy(to, from, bytes);
}

}  // namespace shmemx::interpose
