#include "am/bursts.hpp"

#include "am/network_thread.hpp"
#include "base/clock.hpp"

namespace shmemx::am {

// The clock is read at the first and second message of a burst only.
bool Bursts::follows(int pe) noexcept {
  Last& last = last_[pe];
  if (last.gathered_turn == turn_) return true;
  if (!network_thread.runs.load(std::memory_order_relaxed)) return false;  // set at init, cleared at the end
  const std::uint64_t now = now_ns();
  const bool follows = last.sent_turn == turn_ && now - last.sent_ns < longest_ns_;
  last.sent_turn = turn_;
  last.sent_ns = now;
  if (!follows) return false;
  last.gathered_turn = turn_;
  network_thread.note_gathering();
  return true;
}

}  // namespace shmemx::am
