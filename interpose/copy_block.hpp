// Copies of short blocks without a call.
#pragma once

#include <cstddef>
#include <cstring>

namespace shmemx::interpose {

// Single stores and loads for words, since a program may poll them. Blocks of other sizes that are frequent in strided
// data need no call either.
inline void copy_block(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    case 32:
      std::memcpy(to, from, 32);
      break;
    case 64:
      std::memcpy(to, from, 64);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

}  // namespace shmemx::interpose
