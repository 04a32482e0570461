// What a PE has put to another PE, or fetches from it, on a context: numbered operations, up to where a fence orders
// them, and clocks' components for them.
#pragma once

#include <pshmem.h>

#include <atomic>

#include "races/thread.hpp"

namespace shmemx::races {

// One numbering for all operations. What a thread knows of it is a component of clocks as well: how many have been
// issued, and how many are ordered by a fence. So threads of a PE that are not synchronised do not profit from each
// other's fences.
struct Channel {
  Slot puts = kNoSlot;     // no slot: no room for one, so operations count as complete when they return
  Slot fetches = kNoSlot;  // nonblocking ones
  Slot issued = kNoSlot;
  Slot fenced = kNoSlot;
  std::atomic<Epoch> n_operations{0};
};

// The channel to a PE, which counts in the context's team; `world_pe` is then its number in the world.
Channel& channel_to(shmem_ctx_t context, int pe, int& world_pe) noexcept;
// Calls use(channel) for each channel of the context that has been used; for one PE if `pe` is not kAllPes.
inline constexpr int kAllPes = -1;
void fence_channels(shmem_ctx_t context, Thread& thread) noexcept;
void quiet_channels(shmem_ctx_t context, int pe, Thread& thread) noexcept;
// The handle is invalid from now on.
void forget_context(shmem_ctx_t context) noexcept;
void forget_contexts() noexcept;

// The next operation of the kind.
Stamp next_put(Channel& channel, Thread& thread) noexcept;
Stamp next_fetch(Channel& channel, Thread& thread) noexcept;
// What the thread knows when a put of the channel reaches memory.
Knowledge knowledge_of_put(const Channel& channel, const Thread& thread) noexcept;

}  // namespace shmemx::races
