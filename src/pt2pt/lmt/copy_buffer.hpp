// The shared memory of the LMTs with which both sides copy at the same time, one for each PE of a node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "nemesis/layout.hpp"
#include "rma/cma.hpp"

namespace shmemx::pt2pt {

// The chunks of a message that nobody has claimed: from `begin` up to but not including `end`.
struct alignas(std::uint64_t) Claims {
  std::uint32_t transfer;  // number of the transfer at its receiver
  std::uint16_t begin;
  std::uint16_t end;
};

// A message of which both sides copy a part: the owner of the buffer, which receives it, chunks from the front, the
// sender others from the back.
//
// Edge:  written  written.store -> written.load   the bytes of these chunks
// Claims are relaxed: the CTS orders their first value, and what is claimed travels by other edges.
struct SharedCopy {
  alignas(kCacheLine) std::atomic<Claims> claims;          // written by either side
  rma::CmaProbe probe;                                     // of the owner; set before it first shares a message
  alignas(kCacheLine) std::atomic<std::uint32_t> written;  // chunks; by the sender
};
static_assert(std::atomic<Claims>::is_always_lock_free);

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
  SharedCopy shared;
  alignas(kCacheLine) std::byte chunks[kChunks][kChunkBytes];
};
static_assert(sizeof(CopyBuffer) == nemesis::kCopyBufferBytes);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace shmemx::pt2pt
