// Copies of blocks, by size. All bulk data of the library goes through here. The sizes and loops are measured
// (docs/decisions/0014-large-copies.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.hpp"

namespace shmemx {

using CopyLoop = void (*)(void* dest, const void* source, std::size_t bytes) noexcept;

// Loops of vector loads and stores. `dest` may be `source`. It may also overlap it from below for `up`, from above for
// `down`. Both write the last byte last.
struct CopyLoops {
  const char* name;
  CopyLoop up;
  CopyLoop down;
};

// Returns the loops that this processor can run, the fastest ones last.
std::span<const CopyLoops> copy_loops() noexcept;

void copy_up_by_16(void* dest, const void* source, std::size_t bytes) noexcept;
void copy_down_by_16(void* dest, const void* source, std::size_t bytes) noexcept;

// Copies below `large_bytes` are memcpy, which gives large copies to the processor's string instructions. From there on
// they are `loops`, from `stream_bytes` on stores that bypass the caches. Set once at init.
struct CopySizes {
  std::size_t large_bytes = 1024;
  std::size_t stream_bytes = std::size_t{4} << 20;
  CopyLoops loops = {"16 bytes", copy_up_by_16, copy_down_by_16};
};
inline constinit CopySizes copy_sizes;

// Returns what suits this processor if its last cache holds `last_cache_bytes`. 0 means that the size is unknown.
CopySizes copy_sizes_for(std::uint64_t last_cache_bytes) noexcept;

// Copies a block of any size, meant for those from `large_bytes` on, to a place that does not overlap it, or to itself.
// Ordered like plain stores when it returns, so fence and signal need nothing extra.
void copy_large(void* dest, const void* source, std::size_t bytes) noexcept;
// copy_large() where `dest` may overlap `source` from below.
void copy_large_up(void* dest, const void* source, std::size_t bytes) noexcept;

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
