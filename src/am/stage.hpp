// How far PEs of other nodes are in their lives. PEs of this node read it in the arena; the others learn it by
// messages.
#pragma once

#include <cstdint>
#include <span>

#include "bootstrap/wire.hpp"

namespace shmemx::am {

// Says that a PE is `running` again, `departed` or `departing`, `finalized` or `ending`.
struct StageNote {
  bootstrap::PePhase phase;
  std::uint32_t reserved = 0;
  std::uint64_t collectives = 0;  // departed: PeRecord::collectives
  std::uint64_t background = 0;   // departed: PeRecord::background
};

// Registers the handler; `stage_of` is called with the notes of other PEs. By set_up().
void open_stages(void (*stage_of)(int pe, const StageNote& note)) noexcept;

// Sends a note to the PEs of other nodes that this one has exchanged messages with, and to those in `also`. Tries for
// at most `patience_ms` to get the messages on their way.
void send_stage(const StageNote& note, std::span<const int> also, std::uint32_t patience_ms) noexcept;
inline void send_stage(bootstrap::PePhase phase, std::uint32_t patience_ms) noexcept {
  send_stage({phase}, {}, patience_ms);
}
struct LeavingTimes {
  std::uint32_t patience_ms;   // for what is on its way
  std::uint32_t take_over_ms;  // for another network, if one fails now
};
// Sends the last note and closes the networks.
void leave_networks(bootstrap::PePhase phase, const LeavingTimes& times) noexcept;
// Between shmem_finalize and the next shmem_init, incoming messages are deferred: `resting` is true then.
void rest(bool resting) noexcept;

}  // namespace shmemx::am
