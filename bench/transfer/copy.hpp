// The copy routine of all mechanisms that copy with the processor; an option of the bench selects it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/raw_copy.hpp"

namespace shmemx::bench {

constexpr const char* kCopyNames[kCopyMethods] = {"memcpy", "movsb", "stream", "vectors"};

inline int copy_method = 0;  // set once, before the processes are forked

// Calls raw_copy for any alignment and length.
inline void copy_bytes(int method, std::byte* dest, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  if (method != 2 || bytes < 2 * kLine) {
    raw_copy(method == 2 ? 0 : method, dest, source, bytes);
    return;
  }
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(dest) % kLine) % kLine;
  const std::size_t middle = (bytes - head) / kLine * kLine;
  std::memcpy(dest, source, head);
  raw_copy(method, dest + head, source + head, middle);
  std::memcpy(dest + head + middle, source + head + middle, bytes - head - middle);
}

inline void copy_bytes(std::byte* dest, const std::byte* source, std::size_t bytes) {
  copy_bytes(copy_method, dest, source, bytes);
}

}  // namespace shmemx::bench
