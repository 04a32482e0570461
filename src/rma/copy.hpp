// Copies into memory that programs see: words by single stores, blocks by copy_block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bulk_copy.hpp"

namespace shmemx::rma {

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
  } else {
    copy_block(to, from, bytes);
  }
}

// Copies an aligned word that others may look at or change at the same moment: one load and one store. Returns false if
// either side is not aligned.
template <class Word>
inline bool copy_word(std::byte* to, const std::byte* from) noexcept {
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % sizeof(Word) != 0) return false;
  const Word word = __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_ACQUIRE);
  __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELEASE);
  return true;
}

// Copies on behalf of another PE to memory that threads of this one may read: an aligned word is a release store, so a
// thread that waits for it also sees what was written before it.
inline void copy_visible(void* dest, const void* source, std::size_t bytes) noexcept {
  auto* const to = static_cast<std::byte*>(dest);
  const auto* const from = static_cast<const std::byte*>(source);
  if (bytes == 8 && copy_word<std::uint64_t>(to, from)) return;
  if (bytes == 4 && copy_word<std::uint32_t>(to, from)) return;
  if (bytes == 2 && copy_word<std::uint16_t>(to, from)) return;
  if (bytes == 1 && copy_word<std::uint8_t>(to, from)) return;
  copy(dest, source, bytes);
}

// copy_visible() where source and dest may overlap. Large blocks that move down are copied upwards by a loop, since the
// C library's string instructions are slow at some distances (docs/decisions/0014-large-copies.md).
inline void move_visible(void* dest, const void* source, std::size_t bytes) noexcept {
  const auto to = reinterpret_cast<std::uintptr_t>(dest);
  const auto from = reinterpret_cast<std::uintptr_t>(source);
  if (bytes <= 8 || (to - from >= bytes && from - to >= bytes)) {
    copy_visible(dest, source, bytes);
  } else if (to < from && bytes >= copy_sizes.large_bytes) {
    copy_large_up(dest, source, bytes);
  } else {
    std::memmove(dest, source, bytes);
  }
}

}  // namespace shmemx::rma
