// The copy routine: by size, thresholds measured (bench/, docs/decisions/). All bulk data of the library goes through
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shmemx::rma {

// Below the first size the C library copies; from there fast string copies; from the second size stores that bypass the
// caches. Set once at init.
struct CopySizes {
  std::size_t large_bytes = 4096;
  std::size_t stream_bytes = std::size_t{32} << 20;
};
inline constinit CopySizes copy_sizes;

// What suits this processor.
CopySizes measured_copy_sizes() noexcept;

[[gnu::noinline]] void copy_stream(void* dest, const void* source, std::size_t bytes) noexcept;

// As fast as the C library's loops or faster from a few KiB up, where both ends are aligned. Ordered like plain stores
// once it is done, so fence and signal need nothing extra.
inline void copy_large(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (bytes >= copy_sizes.stream_bytes) return copy_stream(dest, source, bytes);
  const auto ends = reinterpret_cast<std::uintptr_t>(dest) | reinterpret_cast<std::uintptr_t>(source);
  if (ends % 16 == 0) [[likely]] {
    asm volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
    return;
  }
#endif
  std::memcpy(dest, source, bytes);
}

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
  } else if (bytes < copy_sizes.large_bytes) {
    std::memcpy(to, from, bytes);
  } else {
    copy_large(to, from, bytes);
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

// The same on behalf of another PE, in memory that threads of this one may be looking at: an aligned word is written so
// that whoever waits for it also sees what was written before it.
inline void copy_visible(void* dest, const void* source, std::size_t bytes) noexcept {
  auto* const to = static_cast<std::byte*>(dest);
  const auto* const from = static_cast<const std::byte*>(source);
  if (bytes == 8 && copy_word<std::uint64_t>(to, from)) return;
  if (bytes == 4 && copy_word<std::uint32_t>(to, from)) return;
  if (bytes == 2 && copy_word<std::uint16_t>(to, from)) return;
  if (bytes == 1 && copy_word<std::uint8_t>(to, from)) return;
  copy(dest, source, bytes);
}

// The same where source and dest may overlap.
inline void move_visible(void* dest, const void* source, std::size_t bytes) noexcept {
  const auto to = reinterpret_cast<std::uintptr_t>(dest);
  const auto from = reinterpret_cast<std::uintptr_t>(source);
  if (bytes > 8 && (to - from < bytes || from - to < bytes)) {
    std::memmove(dest, source, bytes);
  } else {
    copy_visible(dest, source, bytes);
  }
}

}  // namespace shmemx::rma
