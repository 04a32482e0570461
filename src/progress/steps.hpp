// Single steps of a wait: one look, one yield, one sleep.
#pragma once

#include <cstdint>

#include "progress/wait.hpp"

namespace shmemx::progress {

// Returns whether the condition holds, after handling messages if it does not. Sets `moved` if there were some.
inline bool is_done(PollFunction done, void* state, bool& moved) {
  if (done(state)) return true;
  bool (*const poll)() = message_poll();
  if (poll == nullptr || !poll()) return false;
  moved = true;
  return done(state);
}
inline bool is_done(PollFunction done, void* state) {
  bool moved;
  return is_done(done, state, moved);
}

// Returns whether no other thread of this PE has to run before this one, if it sleeps: it sleeps on the networks
// itself, or awaits the store of a node peer.
bool is_woken_directly();
// Moves this thread away from the cores of other PEs, where the policy says so.
void part_from_pes();

// Gives the core away once. Sets the time of the return, the CPU, and how long the yield took.
void yield_once(Seen& seen);

// Sleeps once, for at most `ns`; not at all if done. Returns not_at_all, to_the_end or until_woken.
Slept sleep_once(PollFunction done, void* state, std::uint64_t ns);

}  // namespace shmemx::progress
