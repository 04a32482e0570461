#include "transport/ethernet/paths.hpp"

#include <utility>

namespace shmemx::ethernet {

Paths::Paths(unsigned own_interfaces, unsigned peers_interfaces, std::uint64_t resend_ns) noexcept
    : round_trip_(resend_ns) {
  for (const bool is_alike : {true, false}) {
    for (std::uint8_t own = 0; own < own_interfaces; ++own) {
      for (std::uint8_t peers = 0; peers < peers_interfaces; ++peers) {
        if ((own == peers) == is_alike) paths_[n_++] = {own, peers};
      }
    }
  }
}

// Returns the best path that was not left, or null: first those whose interface can send, then the one over which the
// peer was heard last.
const Path* Paths::best(unsigned failing) const noexcept {
  const Path* best = nullptr;
  std::pair<bool, std::uint64_t> best_merit;
  for (unsigned i = 0; i < n_; ++i) {
    const Path& path = paths_[i];
    if (was_left(path)) continue;
    const std::pair<bool, std::uint64_t> merit((failing >> path.own & 1) == 0, heard_ns(path));
    if (best != nullptr && merit <= best_merit) continue;
    best = &path;
    best_merit = merit;
  }
  return best;
}

Path Paths::second() const noexcept {
  Path found = current_;
  for (unsigned i = 0; i < n_; ++i) {
    const Path& path = paths_[i];
    if (path.own == current_.own || path.peers == current_.peers) continue;
    if (found == current_ || heard_ns(path) > heard_ns(found)) found = path;
  }
  return found;
}

bool Paths::leave(unsigned failing) noexcept {
  if (round_trip_.was_heard()) left_ = 0;  // others may work again, too
  left_ |= bit_of(current_);
  const Path* next = best(failing);
  const bool goes_on = next != nullptr;
  if (!goes_on) {
    left_ = n_ == 1 ? 0 : bit_of(current_);
    next = best(failing);
  }
  current_ = *next;
  round_trip_.change_path(!goes_on);
  return goes_on;
}

}  // namespace shmemx::ethernet
