// Copies of blocks, by size. All bulk data of the library goes through here. The sizes and loops are measured
// (docs/decisions/0014-large-copies.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.hpp"

namespace shmemx {

// A loop of vector loads and stores, upwards: `dest` may overlap `source` if it does not begin above it.
using CopyLoop = void (*)(void* dest, const void* source, std::size_t bytes) noexcept;

struct NamedCopyLoop {
  const char* name;
  CopyLoop copy;
};

// Returns the loops that this processor can run, the fastest one last.
std::span<const NamedCopyLoop> copy_loops() noexcept;

void copy_by_16(void* dest, const void* source, std::size_t bytes) noexcept;

// Copies below `large_bytes` are memcpy, which gives large copies to the processor's string instructions. From there on
// they are `loop`, from `stream_bytes` on stores that bypass the caches. Set once at init.
struct CopySizes {
  std::size_t large_bytes = 1024;
  std::size_t stream_bytes = std::size_t{4} << 20;
  CopyLoop loop = copy_by_16;
};
inline constinit CopySizes copy_sizes;

// Returns what suits this processor if its last cache holds `last_cache_bytes`. 0 means that the size is unknown.
CopySizes copy_sizes_for(std::uint64_t last_cache_bytes) noexcept;

// Copies a block of any size, meant for those from `large_bytes` on, upwards like the loops. Ordered like plain stores
// when it returns, so fence and signal need nothing extra.
void copy_large(void* dest, const void* source, std::size_t bytes) noexcept;

// Copies upwards and past the caches.
void copy_stream(void* dest, const void* source, std::size_t bytes) noexcept;

// Copies a block of any size to a place that does not overlap it, or to itself. Requires valid pointers also for 0
// bytes.
inline void copy_block(void* dest, const void* source, std::size_t bytes) noexcept {
  if (bytes < copy_sizes.large_bytes) {
    std::memcpy(dest, source, bytes);
  } else {
    copy_large(dest, source, bytes);
  }
}

// Copies the payload of a message, of which most are words.
[[gnu::always_inline]] inline void copy_payload(std::byte* dest, Bytes payload) noexcept {
  if (payload.size() == 8) {
    std::memcpy(dest, payload.data(), 8);
  } else if (!payload.empty()) {
    copy_block(dest, payload.data(), payload.size());
  }
}

}  // namespace shmemx
