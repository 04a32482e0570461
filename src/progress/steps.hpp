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

// Gives the core away between two looks of a waiter that expects to wait for longer. Returns false if it should sleep
// instead.
bool yield_once();
// Moves this thread away from the cores of other PEs, where the policy says so.
void part_from_pes();

enum class Slept : std::uint8_t { not_at_all, to_the_end, until_woken };
// Sleeps once, for at most `ns`; not at all if done.
Slept sleep_once(PollFunction done, void* state, std::uint64_t ns);

}  // namespace shmemx::progress
