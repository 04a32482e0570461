// What the engine of two-sided messages asks of the world around it. The library's answer is in messages.cpp; tests
// play a whole job in one process with one of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/channel.hpp"
#include "am/layout.hpp"
#include "base/cache_line.hpp"
#include "config/kinds.hpp"
#include "pt2pt/wire.hpp"
#include "rma/cma.hpp"
#include "transport/transport.hpp"

namespace shmemx::pt2pt {

// Through it a sender and the PE that owns it copy at the same time: the sender fills a chunk while the owner empties
// another. Chunks are counted for ever, so nothing has to be reset between transfers.
//
// Edges:  filled   filled.store -> filled.load     the bytes of the chunk
//         drained  drained.store -> drained.load   the owner has read the chunk: its place may be filled again
struct CopyBuffer {
  static constexpr std::size_t kChunks = am::kCopyChunks;
  static constexpr std::size_t kChunkBytes = am::kCopyChunkBytes;
  alignas(kCacheLine) std::atomic<std::uint32_t> filled;   // written by the sender
  alignas(kCacheLine) std::atomic<std::uint32_t> drained;  // written by the owner
  alignas(kCacheLine) std::byte chunks[kChunks][kChunkBytes];
};
static_assert(sizeof(CopyBuffer) == am::kCopyBufferBytes);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

class Node {
 public:
  // Is it on another node? Then it is reached by messages only, and those may be long.
  virtual bool is_internode(int pe) noexcept = 0;
  // False: no cell is free, or the network takes nothing at the moment.
  virtual bool try_send(int pe, am::HandlerId id, am::Bytes header, am::Bytes body) noexcept = 0;
  // To a PE of another node. `later`: the body is in use until `outgoing` is done.
  virtual transport::Sent send_long(int pe, am::HandlerId id, am::Bytes header, am::Bytes body,
                                    transport::Outgoing& outgoing) noexcept = 0;
  // The space that memory of this PE lies in, as `pe` sees it; `offset` is into that space.
  virtual Space describe(int pe, const std::byte* at, std::size_t bytes, std::uint64_t& offset) noexcept = 0;
  // Where symmetric memory of another PE lies in this process; null where it is not mapped or there is no such memory.
  virtual std::byte* address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept = 0;
  // Null when there is none, or it is not mapped here.
  virtual CopyBuffer* copy_buffer(int owner) noexcept = 0;
  // After something that the PE may sleep on has been stored.
  virtual void wake(int pe) noexcept = 0;
  // As rma::cma_read.
  virtual long read_memory(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
    return rma::cma_read(pid, local, remote, most);
  }
  // A message that no PE sends. The library ends the job.
  virtual void reject(int source, const char* what) noexcept = 0;
  // Memory, or what is allowed of it, is used up. The library ends the job.
  virtual void exhausted(const char* what, std::size_t bytes, std::size_t allowed) noexcept = 0;

 protected:
  ~Node() = default;
};

using config::LmtChoice;

struct Settings {
  int me = 0;
  int n_pes = 0;
  std::size_t payload_bytes = 0;  // of the channel's messages inside the node, at most
  std::size_t unexpected_max = 0;
  LmtChoice lmt = LmtChoice::automatic;
  bool crowded = false;  // more PEs than cores: two sides seldom run at the same time
};

}  // namespace shmemx::pt2pt
