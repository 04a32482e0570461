// Views of bytes, and copies of short ones.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace shmemx {

using Bytes = std::span<const std::byte>;

// Copies without a call if the compiler knows the length, or if it is 8.
[[gnu::always_inline]] inline void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {
    std::memcpy(to, from, bytes);
  }
}

// Copies a header from the begin of the bytes, and removes it there. Returns false if they are fewer.
template <class Header>
[[nodiscard]] bool take_header(Bytes& bytes, Header& out) noexcept {
  if (bytes.size() < sizeof out) return false;
  std::memcpy(&out, bytes.data(), sizeof out);
  bytes = bytes.subspan(sizeof out);
  return true;
}

}  // namespace shmemx
