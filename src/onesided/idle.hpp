// Tells whether messages can still change anything for this PE.
#pragma once

#include <cstdint>

namespace shmemx::onesided {

// What the caller knows of other PEs.
struct PeerStates {
  bool (*shares_arena)(int pe);
  bool (*is_gone)(int pe);   // of the arena: its process has ended
  bool (*has_left)(int pe);  // of another arena: it has said to this PE that it sends nothing more
};

// Messages between this PE and living PEs of its arena that a network carries: sent, and executed here.
struct MessageCounts {
  std::uint64_t sent = 0;
  std::uint64_t executed = 0;
};

// Returns true if nothing that this PE has sent to a living PE waits to be executed or answered, other than requests
// for a lock; if nothing has arrived that has not been handled; and if all PEs of other arenas that have exchanged
// messages with this one have left. Returns false also if another thread uses the endpoint.
bool is_idle(const PeerStates& peers, MessageCounts& counts) noexcept;

}  // namespace shmemx::onesided
