// The shared memory of double buffering, one for each PE of a node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "nemesis/layout.hpp"

namespace shmemx::pt2pt {

// A sender and the PE that owns the buffer copy at the same time: the sender fills a chunk while the owner empties
// another. The counts of chunks grow for ever, so no transfer has to reset them.
//
// Edges:  filled   filled.store -> filled.load     the bytes of the chunk
//         drained  drained.store -> drained.load   the owner has read the chunk: the sender may fill it again
struct CopyBuffer {
  static constexpr std::size_t kChunks = nemesis::kCopyChunks;
  static constexpr std::size_t kChunkBytes = nemesis::kCopyChunkBytes;
  alignas(kCacheLine) std::atomic<std::uint32_t> filled;   // written by the sender
  alignas(kCacheLine) std::atomic<std::uint32_t> drained;  // written by the owner
  alignas(kCacheLine) std::byte chunks[kChunks][kChunkBytes];
};
static_assert(sizeof(CopyBuffer) == nemesis::kCopyBufferBytes);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace shmemx::pt2pt
